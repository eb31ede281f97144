import Foundation

/// The memory of a process that runs for months. Uses functions of glibc, and does nothing with another C library.
package enum ProcessMemory {
    /// The parameter of `mallopt(3)` for the number of arenas.
    private static let arenas: CInt = -8
    /// Entries of the auxiliary vector, `getauxval(3)`: the address and the number of the program headers.
    private static let headers: UInt = 3, headerCount: UInt = 5

    /// Limits malloc to one arena per core, instead of eight: each keeps freed memory of its own. Must be called early,
    /// because arenas that exist remain. `MALLOC_ARENA_MAX` takes precedence.
    package static func limitArenas() {
        typealias Setter = @convention(c) (CInt, CInt) -> CInt
        guard getenv("MALLOC_ARENA_MAX") == nil, let symbol = dlsym(nil, "mallopt") else { return }
        _ = unsafeBitCast(symbol, to: Setter.self)(arenas, CInt(ProcessInfo.processInfo.activeProcessorCount))
    }

    /// Unmaps the code and the constants of the executable file, 80 MB with Foundation and ICU. The next access maps a
    /// page again, from the system's cache of files. So pages that only the start needs no longer count as memory of
    /// the process.
    ///
    /// Segments that can be written are left out: their pages may differ from the file.
    package static func unmapExecutable() {
        typealias Query = @convention(c) (UInt) -> UInt
        guard let symbol = dlsym(nil, "getauxval") else { return }
        let query = unsafeBitCast(symbol, to: Query.self)
        let address = query(headers)
        let table = UnsafeBufferPointer(
            start: UnsafePointer<Elf64_Phdr>(bitPattern: address), count: Int(query(headerCount)))
        guard let own = table.first(where: { $0.p_type == PT_PHDR }) else { return }
        let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
        for segment in table where segment.p_type == PT_LOAD && segment.p_flags & UInt32(PF_W) == 0 {
            let start = address - UInt(own.p_vaddr) + UInt(segment.p_vaddr)
            let first = start / page * page
            madvise(
                UnsafeMutableRawPointer(bitPattern: first), Int(start - first) + Int(segment.p_memsz),
                CInt(MADV_DONTNEED))
        }
    }
}
