extension String {
    /// The first Unicode scalars of a text. Bounds the size of a text that a sender chose: a character may have any
    /// number of scalars. The last character may lose some of its marks. Reads nothing after them.
    package func beginning(ofScalars most: Int) -> String { String(unicodeScalars.prefix(most)) }
}
