import Foundation

extension String {
    /// The error number with which the system does not find the file of this path, such as `ENOENT` for a missing one;
    /// nil for a file that exists. Follows symbolic links. `FileManager.fileExists` reports every error as a missing
    /// file.
    package var lookupError: Int32? {
        var status = stat()
        return stat(self, &status) == 0 ? nil : errno
    }
}
