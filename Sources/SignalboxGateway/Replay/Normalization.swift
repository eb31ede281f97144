import Foundation
import SignalboxJSON
package import SignalboxNotification
import Synchronization

/// Turns recorded payloads into events as NDJSON, without network or queue. `signalbox normalize` uses it. It works
/// on all cores and keeps the order of the input.
package struct Normalization: Sendable {
    private let normalizer: Normalizer
    private let source: SourceName
    private let vendor: VendorID?
    private let envelope: RecordedEnvelope

    /// `vendor`: the vendor of all payloads of this source, if the config names one. `envelope`: positions of the
    /// payload, the time and the token in each text. `source`: the name in each event's `source`.
    package init(by normalizer: Normalizer, from source: SourceName, vendor: VendorID?, envelope: RecordedEnvelope) {
        (self.normalizer, self.source, self.vendor, self.envelope) = (normalizer, source, vendor, envelope)
    }

    /// Reads all inputs. `rejects`: path of a file for rejections. `write` receives whole lines, for the duration of
    /// the call. Returns the number of rejected payloads. A rejected payload does not end the run. Throws
    /// ``ReplayError`` if an input cannot be read or the file of rejections cannot be written. Events are complete
    /// lines in the order of the payloads. After an error, the events of the blocks before it have been written.
    package func run(
        _ inputs: InputFiles, rejects: String?, diagnostics: Diagnostics, write: (UnsafeRawBufferPointer) -> Void
    ) async throws -> Int {
        var rejections = try RejectList(path: rejects, namesInputs: inputs.paths.count > 1, diagnostics: diagnostics)
        let buffers = LineBuffers()
        let wrapped = envelope.payload == nil ? WrappedPayloads() : nil
        try await ParallelReading(inputs: inputs).run { block, parser in
            let lines = buffers.take()
            var rejected: [Rejection] = []
            lines.writer.withLock { writer in
                let common = normalizer.envelope(of: Reception(from: source, at: Date(), vendor: vendor))
                block.payloads.forEachPayload(in: envelope, with: parser) { payload throws(Rejection) in
                    wrapped?.examine(payload.text)
                    var notification = PushNotification(platform: .unknown)
                    try normalizer.write(payload, in: common, with: parser, as: &notification, into: &writer)
                    writer.newline()
                    return true
                } rejected: {
                    rejected.append($0)
                    return true
                }
            }
            return (lines, rejected)
        } consume: { block, result in
            let (lines, rejected) = result
            lines.writer.withLock { $0.withBytes { write($0) } }
            buffers.giveBack(lines)
            for rejection in rejected { try rejections.add(rejection, in: block.name) }
        }
        if let advice = wrapped?.advice { diagnostics.writeLine(advice) }
        return rejections.count
    }
}

/// Lends memory for lines and reuses it: the kernel needs longer to map fresh memory than the writer to fill it.
/// Keeps as many buffers as were in use at once.
private final class LineBuffers: Sendable {
    /// A class because a buffer moves from a worker to the output and back.
    final class Buffer: Sendable {
        let writer = Mutex(JSONWriter())
    }

    private let idle = Mutex<[Buffer]>([])

    func take() -> Buffer { idle.withLock { $0.popLast() } ?? Buffer() }

    func giveBack(_ buffer: Buffer) {
        buffer.writer.withLock { $0.removeAll() }
        idle.withLock { $0.append(buffer) }
    }
}
