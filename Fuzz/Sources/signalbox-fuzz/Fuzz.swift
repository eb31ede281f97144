import SignalboxMeasures

/// libFuzzer's own loop, from the runtime that comes with the toolchain's clang
/// (llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a library").
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// C's `char **`.
typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

/// Replaces libFuzzer's own `main`, which is not linked, and passes the arguments on. SwiftPM links the `main` of an
/// executable under this name, which begins with that of its module.
@_cdecl("signalbox_fuzz_main")
func start(_ count: CInt, _ arguments: Arguments) -> CInt {
    var count = count
    var arguments = arguments
    return runDriver(&count, &arguments) { start, count in
        Stages.tryEverything(on: UnsafeBufferPointer(start: start, count: count))
        return 0
    }
}
