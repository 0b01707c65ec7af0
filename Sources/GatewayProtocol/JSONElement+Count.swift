package import PushPolicy

extension JSONElement {
  /// An integer clamped between 0 and 2⁵³, so that sums of such counts can't overflow and no number traps.
  package var count: Int? { integer.map { min(max($0, 0), 1 << 53) } }
}
