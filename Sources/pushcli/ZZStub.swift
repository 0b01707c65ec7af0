import ArgumentParser
func displayWidth(_ s: String) -> Int { s.count }
struct Send: AsyncParsableCommand { }
struct Subscribe: AsyncParsableCommand { }
