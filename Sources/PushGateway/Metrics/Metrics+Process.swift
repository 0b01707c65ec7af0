import PushCore

extension Metric {
  /// The metrics of the state folder: its disk, its files, its certificates.
  static let files: [Metric] = [
    Metric(
      "pushgateway_disk_free_bytes", .gauge, unit: "bytes", "Free space on the disk of the state folder.",
      total: { DiskReadings($0.folder)?.free }),
    Metric(
      "pushgateway_disk_size_bytes", .gauge, unit: "bytes", "Size of the file system that holds the state folder.",
      total: { DiskReadings($0.folder)?.size }),
    Metric(
      "pushgateway_file_size_bytes", .gauge, unit: "bytes", by: "file",
      DiskReadings.files(of: StateFolder("")).map(\.label), "Size of a file of the state folder.",
      totals: { DiskReadings.files(of: $0.folder).map { DiskReadings.size(of: $0.path) } }),
    Metric(
      "pushgateway_certificate_expiry_timestamp_seconds", .gauge, unit: "seconds", by: "certificate",
      ["server", "authority"],
      "Expiry of the server certificate and of the gateway's own CA, in seconds since 1970.",
      totals: { meters in
        [meters.certificatePath?() ?? meters.folder.certificatePath, meters.folder.trustPath].map { path in
          CertificateExpiry.seconds(ofFile: path).map { UInt64(clamping: $0) }
        }
      }),
  ]

  /// The metrics of this process, with the standard names of Prometheus.
  static let process: [Metric] = [
    Metric(
      "pushgateway_build", .info, by: ("version", [Version.text]), "The version of the gateway.",
      read: { _ in [MetricSample(label: Version.text, value: .number(1))] }),
    Metric(
      "process_cpu_seconds", .counter, unit: "seconds", "CPU time of the process, on all cores together.",
      real: { _ in ProcessReadings.now?.processorSeconds }),
    Metric(
      "process_resident_memory_bytes", .gauge, unit: "bytes", "Resident memory of the process.",
      total: { _ in ProcessReadings.now?.residentSize }),
    Metric(
      "process_virtual_memory_bytes", .gauge, unit: "bytes", "Virtual memory of the process.",
      total: { _ in ProcessReadings.now?.virtualSize }),
    Metric(
      "process_start_time_seconds", .gauge, unit: "seconds", "Start time of the process, in seconds since 1970.",
      real: { _ in ProcessReadings.now?.started }),
    Metric("process_threads", .gauge, "Threads of the process.", total: { _ in ProcessReadings.now?.threads }),
    Metric(
      "process_open_fds", .gauge, "Open file descriptors: one for each connection, and a few for files.",
      total: { _ in ProcessReadings.descriptors }),
    Metric(
      "process_max_fds", .gauge, "Maximum number of open file descriptors.",
      total: { _ in ProcessReadings.maximumDescriptors }),
  ]
}
