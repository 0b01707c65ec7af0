/// Appends the decimal digits of a number.
package func appendDecimal(_ value: UInt64, to bytes: inout [UInt8]) {
  var divisor: UInt64 = 1
  while value / divisor >= 10 { divisor *= 10 }
  while divisor > 0 {
    bytes.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
    divisor /= 10
  }
}
