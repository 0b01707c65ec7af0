import Testing

@testable import pushcli

@Suite struct OptionValueTests {
  @Test(arguments: [nil, 1, 60, 525_600] as [Int?])
  func `a number within its range is taken, and so is none`(_ number: Int?) throws {
    try OptionValue.check(number, "--minutes", 1...525_600)
  }

  @Test(arguments: [Int.min, -1, 0, 525_601, 153_722_867_280_912_930, .max])
  func `a number out of its range is refused, with the option, the range and the number`(_ number: Int) {
    #expect {
      try OptionValue.check(number, "--minutes", 1...525_600)
    } throws: { error in
      "\(error)" == "--minutes is a number from 1 to 525600, not \(number)"
    }
  }
}
