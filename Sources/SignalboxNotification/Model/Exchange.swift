/// Stores another value in a place and returns the former one.
@inlinable
package func exchange<Value>(_ value: inout Value, with other: Value) -> Value {
    var former = other
    swap(&value, &former)
    return former
}
