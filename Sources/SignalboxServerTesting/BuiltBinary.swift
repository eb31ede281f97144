package import Foundation
import SignalboxTesting

/// A `signalbox` binary, usually the one that was built with the tests. End-to-end tests start it as users do: with
/// arguments, environment and signals.
package struct BuiltBinary: Sendable {
    private let url: URL

    /// `bundle`: the bundle of the test target, which the build puts next to the binary. The file need not exist
    /// until it is started.
    package init(beside bundle: Bundle) {
        url = bundle.bundleURL.deletingLastPathComponent().appendingPathComponent("signalbox")
    }

    /// The binary of another release at this path.
    package init(at path: String) { url = URL(fileURLWithPath: path) }

    /// The exit status and output of a finished process. Collected after the process and both outputs have ended.
    package struct Result: Sendable {
        /// 128 and the number of the signal that ended the process.
        package let status: Int32
        /// Whole lines of standard output, decoded as UTF-8.
        package let output: String
        /// Whole lines of standard error, decoded as UTF-8.
        package let errors: String
    }

    /// Runs the binary to its end. `behind`: a command that executes the binary; its own arguments come first.
    /// `input`: all of standard input, which is then closed. `environment`: added to that of the tests. Throws if the
    /// process cannot be started.
    package func run(
        _ arguments: [String], input: Data = Data(), in directory: String? = nil, environment: [String: String] = [:],
        behind command: [String] = []
    ) async throws -> Result {
        let process = try start(arguments, in: directory, environment: environment, behind: command)
        process.send(input)
        async let output = process.output.text()
        async let errors = process.errors.text()
        return Result(status: await process.end(), output: await output, errors: await errors)
    }

    /// Starts the binary and leaves it running. The caller ends the process, by a signal or by the end of its input,
    /// and awaits it.
    package func start(
        _ arguments: [String], in directory: String? = nil, environment: [String: String] = [:],
        behind command: [String] = []
    ) throws -> RunningBinary {
        guard !command.isEmpty else {
            return try RunningBinary(url, arguments, in: directory, environment: environment)
        }
        return try RunningBinary(
            URL(fileURLWithPath: "/usr/bin/env"), command + [url.path] + arguments, in: directory,
            environment: environment)
    }
}

/// A process that a test started. A class because one task awaits its end and another one stops it. Dropping it
/// closes the standard input and does not otherwise end the process.
package final class RunningBinary: Sendable {
    /// The process id.
    package let identifier: Int32
    /// Closed by ``send(_:andClose:)`` or with the last reference.
    private let standardInput: Pipe
    /// Has one element: the exit code.
    private let ended: BoundedStream<Int32>
    /// One reader at a time.
    package let output: Lines
    /// One reader at a time, like ``output``.
    package let errors: Lines

    /// Starts the program at `url`. Throws if the file cannot be executed. Reads both outputs at once, so the process
    /// never blocks on a full pipe.
    package init(
        _ url: URL, _ arguments: [String], in directory: String? = nil, environment: [String: String] = [:]
    ) throws {
        let (ended, ending) = AsyncStream.makeStream(of: Int32.self)
        let outputPipe = Pipe()
        let errorPipe = Pipe()
        let standardInput = Pipe()
        self.standardInput = standardInput
        let descriptors = [
            standardInput.fileHandleForReading, outputPipe.fileHandleForWriting, errorPipe.fileHandleForWriting,
        ]
        let id = try SpawnedProcess.start(
            url.path, arguments, in: directory,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            descriptors: descriptors.map(\.fileDescriptor))
        identifier = id
        for end in descriptors { try? end.close() }
        let name = ([url.lastPathComponent] + arguments.prefix(1)).joined(separator: " ")
        // A process that ends closes its outputs, so every wait for it is over.
        let stop: @Sendable () -> Void = { kill(id, SIGKILL) }
        self.ended = BoundedStream(stream: ended, awaited: "The end of \(name)", end: stop)
        output = Lines(of: outputPipe, awaited: "The next line of output of \(name)", end: stop)
        errors = Lines(of: errorPipe, awaited: "The next line of standard error of \(name)", end: stop)
        // A thread, because waiting blocks.
        Thread {
            ending.yield(SpawnedProcess.wait(for: id))
            ending.finish()
        }.start()
    }

    deinit { try? standardInput.fileHandleForWriting.close() }

    /// Writes to its standard input, and closes it unless more follows. Blocks while the pipe is full. A process that
    /// has ended receives nothing, which is not an error.
    package func send(_ input: Data, andClose isWhole: Bool = true) {
        let handle = standardInput.fileHandleForWriting
        input.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                // FileHandle's method would end the process when a signal interrupts it.
                let count = UnsafeRawBufferPointer(rebasing: rest).withMemoryRebound(to: UInt8.self) {
                    write(handle.fileDescriptor, $0.baseAddress, $0.count)
                }
                if count < 0, errno == EINTR { continue }
                // A process may end without reading its input.
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
        if isWhole { try? handle.close() }
    }

    /// `number`: the number of the signal, such as SIGTERM.
    package func signal(_ number: Int32) { kill(identifier, number) }

    /// Its exit code, once it has ended. Does not end the process: send a signal first. One caller only. A process that
    /// does not end within ``WaitBound/time`` fails the test and is killed.
    package func end() async -> Int32 {
        for await status in ended { return status }
        return -1
    }

    /// The address that `serve` or `listen` prints; nil when the process ends before. Consumes the lines of standard
    /// error up to the one with the address.
    package func listeningURL() async -> String? {
        for await line in errors.stream {
            guard let start = line.range(of: "http://") else { continue }
            // A quotation mark ends it in a log of JSON lines.
            return String(line[start.lowerBound...].prefix { $0 != " " && $0 != "\"" })
        }
        return nil
    }

    /// The URL of the provider endpoints, from the line after that of ``listeningURL()``. Nil when the process exits
    /// first.
    package func providerURL() async -> String? { await url(behind: "provider endpoints on ") }

    /// The URL of the proxy, from the line after that of ``providerURL()`` or ``listeningURL()``. Nil when the process
    /// exits first.
    package func proxyURL() async -> String? { await url(behind: "proxy for push services on ") }

    private func url(behind words: String) async -> String? {
        for await line in errors.stream {
            guard let start = line.range(of: words) else { continue }
            return String(line[start.upperBound...].prefix { $0 != " " })
        }
        return nil
    }

    /// The lines of one of its outputs, as they arrive. Lines that arrive before a reader are kept. A line that does
    /// not come within ``WaitBound/time`` fails the test and ends the process.
    package struct Lines: Sendable {
        /// Without line ends. Ends with the output.
        package let stream: BoundedStream<String>

        /// Starts a thread that reads to the end of the pipe.
        fileprivate init(of pipe: Pipe, awaited: String, end: @escaping @Sendable () -> Void) {
            let (stream, lines) = AsyncStream.makeStream(of: String.self)
            self.stream = BoundedStream(stream: stream, awaited: awaited, end: end)
            // A thread, because reading blocks until the process writes or ends.
            let thread = Thread {
                var rest = Data()
                while let piece = Self.read(from: pipe.fileHandleForReading.fileDescriptor) {
                    rest.append(piece)
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        lines.yield(String(decoding: rest[..<end], as: UTF8.self))
                        rest = Data(rest[rest.index(after: end)...])
                    }
                }
                if !rest.isEmpty { lines.yield(String(decoding: rest, as: UTF8.self)) }
                lines.finish()
                // The closure outlives the thread.
                try? pipe.fileHandleForReading.close()
            }
            thread.start()
        }

        /// The next bytes; nil at the end. `availableData` would end the process when a signal interrupts it.
        private static func read(from descriptor: Int32) -> Data? {
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = Foundation.read(descriptor, &buffer, buffer.count)
                if count > 0 { return Data(buffer.prefix(count)) }
                guard count < 0, errno == EINTR else { return nil }
            }
        }

        /// Everything up to the end, with a line end after each line.
        package func text() async -> String {
            var text = ""
            for await line in stream { text += line + "\n" }
            return text
        }
    }
}
