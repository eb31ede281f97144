import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting

/// Reading of the config file and the files of its folder.
extension ConfigFile {
    /// Files of this folder, next to the config, belong to it.
    static let folder = "routes.d"

    /// Reads and checks a config; throws every error with its position. The config's `origin` lists the files that were
    /// read and the paths where more may be added.
    static func load(_ path: String) throws(ConfigRefusal) -> RoutedConfig {
        let files = try texts(path)
        do throws(InvalidConfig) {
            return try read(files, from: path)
        } catch {
            throw ConfigRefusal(error.mistakes, in: files)
        }
    }

    /// As ``load(_:)``, from files that were read already.
    static func read(_ files: [ConfigText], from path: String) throws(InvalidConfig) -> RoutedConfig {
        var loaded = try RoutedConfig(files)
        loaded.config.origin = GatewayConfig.Origin(
            files: files.map(\.name) + loaded.config.templateFiles, folder: folder(beside: path),
            digest: hexadecimal(sha256(files.flatMap(\.bytes))))
        return loaded
    }

    /// The config's own file first, the others in the order of their names.
    static func texts(_ path: String) throws(ConfigRefusal) -> [ConfigText] {
        guard let text = ConfigText.beginning(of: path, upTo: ConfigBounds.bytes + 1) else {
            let exists = FileManager.default.fileExists(atPath: path)
            throw ConfigRefusal(
                exists
                    ? "\(path) cannot be read."
                    : "\(path): there is no such file. Write one, or name another with --config.")
        }
        var files = [ConfigText(name: path, bytes: text)]
        // Reads one byte beyond the limit, so that the reader reports the file that exceeds it.
        var left = max(ConfigBounds.bytes + 1 - text.count, 0)
        let folder = folder(beside: path)
        for name in try names(in: folder) {
            let part = folder + "/" + name
            guard let text = ConfigText.beginning(of: part, upTo: left) else {
                throw ConfigRefusal(
                    "\(part) cannot be read; it belongs to the config, because it is in \(Self.folder).")
            }
            files.append(ConfigText(name: part, bytes: text))
            left -= text.count
        }
        return files
    }

    private static func folder(beside path: String) -> String {
        let parent = (path as NSString).deletingLastPathComponent
        return parent.isEmpty ? folder : parent == "/" ? "/" + folder : parent + "/" + folder
    }

    /// In the order of their bytes, so that it does not depend on the machine's language. Files that begin with a dot
    /// are those of editors.
    private static func names(in folder: String) throws(ConfigRefusal) -> [String] {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory), isDirectory.boolValue else {
            return []
        }
        guard let all = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw ConfigRefusal("\(folder) cannot be read; files in it belong to the config.")
        }
        let names = all.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
        guard names.count <= ConfigReading.mostParts else {
            throw ConfigRefusal(
                "\(folder) has \(names.count) files; at most \(ConfigReading.mostParts) are read. Put some together.")
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
