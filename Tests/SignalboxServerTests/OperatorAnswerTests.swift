import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import SignalboxGateway
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxServer

/// Answers of the operator's endpoints that depend on the store or on files.
@Suite(.timeLimit(.minutes(15))) struct OperatorAnswerTests {
    private func record(_ state: DeliveryRecord.State) -> DeliveryRecord {
        DeliveryRecord(
            id: 7, event: "e", subject: "s", destination: DestinationName("crm"), state: state, attempts: 0,
            due: Date(), notBefore: nil, notAfter: nil, acceptedAt: Date(), last: nil)
    }

    @Test func namesTheReasonWhyADeliveryIsNotRetried() {
        let ended = Problem.notRetried(record(.delivered))
        #expect(ended.status == .conflict && ended.code == "delivery-ended")
        let waiting = Problem.notRetried(record(.waiting))
        #expect(waiting.status == .conflict && waiting.code == "delivery-awaits-media")
        #expect(waiting.detail.contains("waits for its media files"))
    }

    /// A disk that hangs must not hang requests.
    @Test func aHangingQueueIsAnsweredInTime() async throws {
        let timer = ManualTimer()
        let delayed = DelayedCall { timer.schedule(after: $0, $1) }
        let (hold, end) = AsyncStream<Void>.makeStream()
        async let answer: Result<Int, StoreError> = {
            do throws(StoreError) {
                return .success(
                    try await delayed.answer { () throws(StoreError) in
                        for await _ in hold { break }
                        return 1
                    })
            } catch {
                return .failure(error)
            }
        }()
        while timer.count == 0 { await Task.yield() }
        timer.pass(StoreLimits.patience)
        #expect(await answer == .failure(.undecided(after: StoreLimits.patience)))
        end.finish()
    }

    @Test func aFileThatIsRemovedAfterTheLookupIsUnknown() async throws {
        try await withTemporaryDirectory { path in
            let store = MediaStore(directory: path + "/media")
            let api = MediaAPI(store: store, links: MediaLinks(publicUrl: nil))
            let media = try store.keep(Array("text".utf8))
            #expect(try api.find(media.sha256)?.0 == media)
            try FileManager.default.removeItem(atPath: store.path(of: media))
            #expect(try api.find(media.sha256) == nil)
            for range in [nil, 0...1] {
                let error = await #expect(throws: Problem.self) { _ = try await api.content(of: media, range) }
                #expect(error?.code == "media-not-found")
            }
        }
    }

    /// Cuts a file off when it has received the first piece.
    private struct CuttingWriter: ResponseBodyWriter {
        let path: String

        mutating func write(_ buffer: ByteBuffer) async throws { #expect(truncate(path, 0) == 0) }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    /// Otherwise a client that does not read would keep a file in memory.
    @Test func readsAFileAsTheClientReceivesIt() async throws {
        try await withTemporaryDirectory { path in
            let store = MediaStore(directory: path + "/media")
            let media = try store.keep([UInt8](repeating: 1, count: 200_000))
            let body = try await MediaAPI(store: store, links: MediaLinks(publicUrl: nil)).content(of: media)
            #expect(body.contentLength == 200_000)
            await #expect(throws: MediaError.self) {
                try await body.write(CuttingWriter(path: store.path(of: media)))
            }
        }
    }
}
