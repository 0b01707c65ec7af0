/// A failure of the store, with a one-line description for users.
package struct StoreError: Error, CustomStringConvertible {
  package var description: String
  /// True if the database itself is damaged, so that a repair may help.
  package var isDamage = false
  package var isDiskFull = false
  /// True if the same operation may succeed a moment later, because another server did not answer yet.
  package var mayPass = false

  package init(_ description: String, mayPass: Bool = false) {
    (self.description, self.mayPass) = (description, mayPass)
  }
}
