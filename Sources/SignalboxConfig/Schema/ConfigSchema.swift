/// The JSON Schema (2020-12) of the config, for editors and validators.
package enum ConfigSchema {
    package static var text: [UInt8] { PackageResources.routes_schema_json }
}
