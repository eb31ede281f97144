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

/// The package manager links an executable's `main` under the name of its module. Written out, because libFuzzer wants
/// the arguments and libFuzzer's own `main` is left out.
@_cdecl("signalbox_fuzz_main")
func start(_ count: CInt, _ arguments: Arguments) -> CInt {
    var count = count
    var arguments = arguments
    return runDriver(&count, &arguments) { start, count in
        Stages.tryEverything(on: UnsafeBufferPointer(start: start, count: count))
        return 0
    }
}
