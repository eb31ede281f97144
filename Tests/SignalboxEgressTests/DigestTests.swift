import SignalboxEgress
import Testing

@Suite struct DigestTests {
    /// Values of FIPS 180-4's examples, by `sha256sum`.
    @Test(arguments: [
        ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (["abc"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (["a", "", "bc"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            ["abcdbcdecdefdefgefghfghighijhi", "jkijkljklmklmnlmnomnopnopq"],
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func digestsAllPieces(pieces: [String], digest: String) {
        var running = RunningDigest()
        for piece in pieces { Array(piece.utf8).withUnsafeBytes { running.update($0) } }
        #expect(hexadecimal(running.finish()) == digest)
    }
}
