import ArgumentParser

/// `pushcli mcp`: a Model Context Protocol server, with which a coding agent sends messages and asks questions.
struct MCP: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mcp", abstract: "Let a coding agent notify and ask a user, as a Model Context Protocol server.",
    discussion: """
      An agent starts this command, and writes requests to its standard input, one line of JSON each. The tool `notify` \
      sends a message. The tool `ask` shows a question with buttons, and waits for the answer; it has the arguments \
      timeout, escalate_to and after of `pushcli ask`. All messages and questions go to the recipient of --to. When the \
      agent cancels a question or ends, the question is removed from all screens. docs/send/agents.md has the settings \
      of an agent and a whole session.

      Examples:
        pushcli mcp --to me/com.example.agents
        claude mcp add pushgateway -- pushcli mcp --to me/com.example.agents
      """)

  @Option(help: "DEVICE/TOPIC, or GROUP/TOPIC: the recipient.", completion: CompletionCandidates.targets) var to: String
  @Option(help: "The sound's name, or none.", completion: CompletionCandidates.sounds) var sound = "default"
  @OptionGroup var signing: SigningOptions
  @OptionGroup var gateway: GatewayOptions

  func validate() throws {
    if !QuestionRequest.isTarget(to) { throw ValidationError("--to is DEVICE/TOPIC, not \"\(to)\"") }
  }

  func run() async throws {
    await MCPServer(to: to, sound: sound, signing: signing, gateway: gateway).run()
  }
}
