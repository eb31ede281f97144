/// The header of one frame of MPEG audio, layer III (ISO/IEC 11172-3, 2.4.1.3, and 13818-3, 2.4.1.3; "MPEG 2.5" halves
/// the rates once more).
struct MP3Frame {
    /// Of the frame, header included.
    let bytes: Int
    let samplesPerSecond: Int
    /// Of each channel.
    let samples: Int
    let bitsPerSecond: Int
    /// What frames of one file have in common.
    private let stream: [UInt8]
    private let isMono: Bool
    private let isMPEG1: Bool

    /// No frame of layer III is longer: 144 · 320,000 / 32,000 and a byte of padding.
    static let longest = 1441

    /// Nil where no frame begins, and for a frame without a rate ("free format"), whose length its header does not tell.
    init?(_ header: HeaderBytes, at place: Int) {
        guard let word = header.big(4, at: place), word >> 21 == 0x7FF else { return nil }
        let version = word >> 19 & 3
        let (layer, rate, frequency) = (word >> 17 & 3, word >> 12 & 15, word >> 10 & 3)
        guard version != 1, layer == 1, (1...14).contains(rate), frequency != 3, word & 3 != 2 else { return nil }
        isMPEG1 = version == 3
        let kilobits =
            isMPEG1
            ? [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
            : [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
        bitsPerSecond = kilobits[rate - 1] * 1000
        samplesPerSecond = [44_100, 48_000, 32_000][frequency] >> (isMPEG1 ? 0 : version == 2 ? 1 : 2)
        samples = isMPEG1 ? 1152 : 576
        bytes = samples / 8 * bitsPerSecond / samplesPerSecond + word >> 9 & 1
        isMono = word >> 6 & 3 == 3
        stream = [UInt8(version), UInt8(frequency)]
    }

    /// Whether both can be of one file: versions and frequencies do not change within one.
    func isOfOneStream(with other: MP3Frame) -> Bool { stream == other.stream }

    /// Where a header of encoders stands in the first frame: behind the side information.
    var encoderHeader: Int {
        switch (isMPEG1, isMono) {
        case (true, false): 4 + 32
        case (true, true), (false, false): 4 + 17
        case (false, true): 4 + 9
        }
    }
}
