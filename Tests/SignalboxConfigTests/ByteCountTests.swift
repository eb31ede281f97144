import SignalboxConfig
import Testing

@Suite struct ByteCountTests {
    @Test(
        arguments: [
            ("0B", 0), ("512B", 512), ("256KB", 256_000), ("1MB", 1_000_000), ("64KiB", 65_536), ("1MiB", 1_048_576),
            ("1000000000MiB", 1_048_576_000_000_000), ("10GB", 10_000_000_000), ("1GiB", 1_073_741_824),
            ("1000000000GiB", 1_073_741_824_000_000_000),
        ])
    func readsANumberAndAUnit(_ text: String, _ count: Int) {
        #expect(ByteCount.read(text) == count)
    }

    /// A size beyond `Int` is an error, not a wrapped number.
    @Test(arguments: [
        "", "B", "1", "1 KB", "-1KB", "+1KB", "1.5MB", "1kb", "1K", "1TB", "1gb", "٣KB", "1000000001B",
        "18014398509481985KB",
        "9223372036854775808B", "99999999999999999999MiB",
    ])
    func rejectsOtherTexts(_ text: String) {
        #expect(ByteCount.read(text) == nil)
    }

    @Test(arguments: [1, 1000, 1024, 1536, 256_000, 1_000_000, 1_048_576, 999_999, 1 << 30, 10_000_000_000])
    func readsItsOwnText(
        _ count: Int
    ) {
        #expect(ByteCount.read(ByteCount.text(count)) == count)
    }
}
