/// The use that a connection makes of its share of an event-loop iteration.
struct IterationShare {
  /// The number of bytes read since the socket last became readable.
  var size = 0
  /// True while reading is paused until other connections are served.
  var isQueued = false
  /// True if the peer recently sent more than its share.
  var isHeavy = false
  /// The ID of the newest request at the end of the last event-loop iteration.
  var newestRequest: Int32 = 0
  /// The maximum number of reads of the socket in one event-loop iteration.
  var reads = 1
}
