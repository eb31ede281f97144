import Foundation

/// Changes to a queue's file by another process, which a running gateway notices. SQLite's locks belong to a process,
/// so a second process is needed. Needs Python 3 with its module `sqlite3`.
package struct QueueFile: Sendable {
    /// The path of `queue.db`.
    private let path: String

    /// Does not open the file.
    package init(_ path: String) { self.path = path }

    /// Holds the lock of writers while `body` runs. Returns after the lock is released. Rethrows the error of `body`.
    package func locked<R>(_ body: () async throws -> R) async throws -> R {
        let process = try python(
            """
            file.execute("BEGIN EXCLUSIVE")
            print("locked", flush=True)
            sys.stdin.read()
            file.execute("ROLLBACK")
            """)
        for await _ in process.output.stream { break }
        let result: Result<R, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        try await finish(process)
        return try result.get()
    }

    /// Copies the committed pages to another file, and then overwrites everything from byte 4096 on: the second half of
    /// the first page, which has 8 KiB, and all other pages. No process may write the file meanwhile. The copy restores
    /// it.
    package func damage(keeping copy: String) async throws {
        let process = try python(
            """
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            file.close()
            shutil.copy(sys.argv[1], sys.argv[2])
            with open(sys.argv[1], "r+b") as pages:
                size = pages.seek(0, 2)
                pages.seek(4096)
                pages.write(b"\\xa5" * (size - 4096))
            """, copy)
        try await finish(process)
    }

    /// Overwrites the first leaf page of a table with several, while no process has the file open. The rest of the
    /// file stays readable.
    package func damageLeaf(of table: String) async throws {
        let process = try python(
            """
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            size = file.execute("PRAGMA page_size").fetchone()[0]
            root = file.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [sys.argv[2]]).fetchone()[0]
            file.close()
            with open(sys.argv[1], "r+b") as pages:
                pages.seek((root - 1) * size)
                page = pages.read(size)
                # https://www.sqlite.org/fileformat.html, 1.6: an interior page of a table, and the left child of its
                # first cell.
                assert page[0] == 5, page[0]
                cell = int.from_bytes(page[12:14], "big")
                leaf = int.from_bytes(page[cell:cell + 4], "big")
                pages.seek((leaf - 1) * size)
                pages.write(b"\\xa5" * size)
            """, table)
        try await finish(process)
    }

    /// The script finds the connection in `file` and the arguments after the path in `sys.argv`.
    private func python(_ script: String, _ arguments: String...) throws -> RunningBinary {
        let opening = "import shutil, sqlite3, sys\nfile = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        return try RunningBinary(
            URL(fileURLWithPath: "/usr/bin/python3"), ["-c", opening + script, path] + arguments)
    }

    /// Closes the script's standard input and awaits its end. Throws if the script failed.
    private func finish(_ process: RunningBinary) async throws {
        process.send(Data())
        guard await process.end() == 0 else { throw Failed(errors: await process.errors.text()) }
    }

    /// `errors`: the script's standard error.
    private struct Failed: Error { let errors: String }
}
