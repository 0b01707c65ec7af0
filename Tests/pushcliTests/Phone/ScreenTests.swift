import Foundation
import PushPolicy
import Testing

@testable import pushcli

/// Screens as text. Long runs of blanks and of blank lines are written as their length, such as `<103>` and
/// `<12 blank lines>`.
@Suite struct ScreenTests {
  static let badges: [PhoneMessage] = [
    .push(Sample.push(1, badge: 3)), .push(Sample.push(2, Sample.mail, badge: 128)),
  ]
  static let alerts: [PhoneMessage] = [
    badges[0], badges[1], .push(Sample.push(3, alert: Sample.earthquake)),
    .push(Sample.push(4, Sample.mail, alert: Sample.dinner)), .push(Sample.push(5, alert: Sample.done)),
  ]
  static let long = AlertPresentation(
    title: "Terms of Use",
    body: String(repeating: "All work and no play. ", count: 40)
  )
  static let earthquake = Sample.push(
    9,
    alert: Sample.earthquake,
    payload: #"{"aps":{"alert":{"title":"Earthquake in Chile","subtitle":"Off the coast"},"badge":3}}"#
  )
  static let manyApps = (1...9).map { PhoneApp(topic: "app-\($0)", name: "App \($0)", icon: "A\($0)") }

  private func screen(_ columns: Int, _ rows: Int, _ messages: [PhoneMessage]) -> String {
    let size = Size(columns: columns, rows: rows)
    let frame = Sample.phone(size: size, messages).view(size: size)
    for row in 0..<rows {
      let width = (0..<columns).reduce(0) { $0 + (frame[$1, row].character.map { DisplayWidth.of($0) } ?? 0) }
      #expect(width == columns)
    }
    return frame.text
      .replacing(#/ {60,}/#) { "<\($0.count)>" }
      .replacing(#/\n{5,}/#) { "\n<\($0.count - 1) blank lines>\n" }
  }

  @Test func `the home screen at 80×24`() {
    #expect(
      screen(80, 24, Self.badges) == """
         studio  ● localhost:2197                                                 14:05

           ┏━━━━━◖3◗    ╭───◖128◗    ╭──────╮
           ┃  📰  ┃     │  ML  │     │  👨‍👩‍👧  │
           ┗━━━━━━┛     ╰──────╯     ╰──────╯
             News         Mail     Family Album
        <17 blank lines>
         ↵ open   s silent   q quit   ←↑↓→ select
        """
    )
  }

  @Test func `an alert at 80×24`() {
    #expect(
      screen(80, 24, Self.alerts) == """
         studio  ● localhost:2197                                                 14:05

           ┏━━━━━◖3◗    ╭───◖128◗    ╭──────╮
           ┃  📰  ┃     │  ML  │     │  👨‍👩‍👧  │
           ┗━━━━━━┛     ╰──────╯     ╰──────╯
             News        ╭─ 14:03 ─────────────────────────── 2 more ─╮
                         │                  📰 News                   │
                         │                                            │
                         │            Earthquake in Chile             │
                         │               Off the coast                │
                         │                                            │
                         │   A strong earthquake has struck off the   │
                         │ coast of northern Chile. Tsunami warnings  │
                         │               are in force.                │
                         │                                            │
                         ├─────────────────────┬──────────────────────┤
                         │        Close        │       ▸ View ◂       │
                         ╰─────────────────────┴──────────────────────╯
        <5 blank lines>
         c Close   v View   q quit   ↵ press   ←→ focus
        """
    )
  }

  @Test func `the home screen at 40×12`() {
    #expect(
      screen(40, 12, Self.badges) == """
         studio  ● localhost:2197         14:05
          ┏━━━━━◖3◗    ╭───◖128◗    ╭──────╮
          ┃  📰  ┃     │  ML  │     │  👨‍👩‍👧  │
          ┗━━━━━━┛     ╰──────╯     ╰──────╯
            News         Mail     Family Album
        <6 blank lines>
         ↵ open   s silent   q quit
        """
    )
  }

  @Test func `an alert at 40×12`() {
    #expect(
      screen(40, 12, Self.alerts) == """
         ╭─ 14:03 ─────────────────── 2 more ─╮
         │              📰 News               │
         │        Earthquake in Chile         │
         │           Off the coast            │
         │ A strong earthquake has struck off │
         │    the coast of northern Chile.    │
         │   Tsunami warnings are in force.   │
         ├─────────────────┬──────────────────┤
         │      Close      │     ▸ View ◂     │
         ╰─────────────────┴──────────────────╯

         c Close   v View   q quit   ↵ press
        """
    )
  }

  @Test func `the home screen at 20×5`() {
    #expect(
      screen(20, 5, Self.badges) == """


        needs 30×10, is 20×5


        """
    )
  }

  @Test func `an alert at 20×5`() {
    #expect(
      screen(20, 5, Self.alerts) == """

        needs 30×10, is 20×5
           3 alerts wait


        """
    )
  }

  @Test func `the home screen at 200×60`() {
    #expect(
      screen(200, 60, Self.badges) == """
         studio  ● localhost:2197<169>14:05


                                                ┏━━━━━━━━━━━◖3◗      ╭─────────◖128◗      ╭────────────╮
                                                ┃            ┃       │            │       │            │
                                                ┃            ┃       │            │       │            │
                                                ┃     📰     ┃       │     ML     │       │     👨‍👩‍👧     │
                                                ┃            ┃       │            │       │            │
                                                ┃            ┃       │            │       │            │
                                                ┗━━━━━━━━━━━━┛       ╰────────────╯       ╰────────────╯
                                                     News                 Mail             Family Album
        <48 blank lines>
         ↵ open   s silent   q quit   ←↑↓→ select
        """
    )
  }

  @Test func `an alert at 200×60`() {
    #expect(
      screen(200, 60, Self.alerts) == """
         studio  ● localhost:2197<169>14:05


                                                ┏━━━━━━━━━━━◖3◗      ╭─────────◖128◗      ╭────────────╮
                                                ┃            ┃       │            │       │            │
                                                ┃            ┃       │            │       │            │
                                                ┃     📰     ┃       │     ML     │       │     👨‍👩‍👧     │
                                                ┃            ┃       │            │       │            │
                                                ┃            ┃       │            │       │            │
                                                ┗━━━━━━━━━━━━┛       ╰────────────╯       ╰────────────╯
                                                     News                 Mail             Family Album
        <12 blank lines>
        <77>╭─ 14:03 ─────────────────────────── 2 more ─╮
        <77>│                  📰 News                   │
        <77>│                                            │
        <77>│            Earthquake in Chile             │
        <77>│               Off the coast                │
        <77>│                                            │
        <77>│   A strong earthquake has struck off the   │
        <77>│ coast of northern Chile. Tsunami warnings  │
        <77>│               are in force.                │
        <77>│                                            │
        <77>├─────────────────────┬──────────────────────┤
        <77>│        Close        │       ▸ View ◂       │
        <77>╰─────────────────────┴──────────────────────╯
        <23 blank lines>
         c Close   v View   q quit   ↵ press   ←→ focus
        """
    )
  }

  @Test func `an alert at the smallest size that holds one`() {
    #expect(
      screen(30, 10, Self.alerts) == """
        ╭─ 14:03 ─────────── 2 more ─╮
        │          📰 News           │
        │    Earthquake in Chile     │
        │       Off the coast        │
        │  A strong earthquake has   │
        │  struck off the coast of…  │
        ├─────────────┬──────────────┤
        │    Close    │   ▸ View ◂   │
        ╰─────────────┴──────────────╯
         c Close   v View   q quit
        """
    )
  }

  @Test func `a body is cut only when it cannot fit`() {
    #expect(
      screen(40, 12, [.push(Sample.push(1, alert: Self.long))]) == """
        ╭─ 14:03 ──────────────────────────────╮
        │               📰 News                │
        │             Terms of Use             │
        │ All work and no play. All work and   │
        │ no play. All work and no play. All   │
        │ work and no play. All work and no    │
        │ play. All work and no play. All work │
        │ and no play. All work and no play.…  │
        ├──────────────────┬───────────────────┤
        │      Close       │     ▸ View ◂      │
        ╰──────────────────┴───────────────────╯
         c Close   v View   q quit   ↵ press
        """
    )
  }

  @Test func `a single button is alone`() {
    #expect(
      screen(40, 14, [.push(Sample.push(1, alert: Sample.done))]) == """
         studio  ● localhost:2197         14:05
          ┏━━━━━━┓     ╭──────╮     ╭──────╮
         ╭─ 14:03 ────────────────────────────╮
         │              📰 News               │
         │                                    │
         │          Backup Finished           │
         │                                    │
         ├────────────────────────────────────┤
         │               ▸ OK ◂               │
         ╰────────────────────────────────────╯



         o OK   q quit
        """
    )
  }

  @Test func `View opens the app with its pushes and the payload`() {
    #expect(
      screen(60, 16, Self.badges + [.push(Self.earthquake), .key(.character("v"))]) == """
         studio  ● localhost:2197                             14:05
         ‹ Home                   📰 News
         ──────────────────────────────────────────────────────────
         ▸ 14:03  Earthquake in Chile
                  Off the coast — A strong earthquake has struck o…
           14:03  Badge 3
        <6 blank lines>
         ── Payload ───────────────────────────────────────────────
         {"aps":{"alert":{"title":"Earthquake in
         Chile","subtitle":"Off the coast"},"badge":3}}
         esc home   s silent   q quit   ↑↓ select
        """
    )
  }

  @Test func `trouble with the connection is told in the status bar (A10)`() {
    #expect(
      screen(80, 12, [.connection(.disconnected(lastConnected: Sample.now - 86_400, retryAt: Sample.now + 9))])
        == """
         studio  ○ last connected at 13 Nov 14:05 · next try at 14:05:09          14:05
           ┏━━━━━━┓     ╭──────╮     ╭──────╮
           ┃  📰  ┃     │  ML  │     │  👨‍👩‍👧  │
           ┗━━━━━━┛     ╰──────╯     ╰──────╯
             News         Mail     Family Album
        <6 blank lines>
         ↵ open   s silent   q quit   ←↑↓→ select
        """
    )
  }

  @Test func `an empty phone says so, and what was dropped is told`() {
    #expect(
      screen(40, 12, [.apps([]), .gap(dropped: 2), .key(.character("s"))]) == """
         studio  ● localhost:2197 silent  14:05
        <4 blank lines>
                      No apps yet

             What is pushed to this device
                     appears here.

          2 older pushes dropped, mailbox full
         esc noted   s ring   q quit
        """
    )
  }

  @Test func `more apps than fit come in pages`() {
    #expect(
      screen(30, 10, [.apps(Self.manyApps), .key(.right), .key(.down)]) == """
         studio  ● localhost:2… 14:05
            ╭──────╮     ┏━━━━━━┓
            │  A3  │     ┃  A4  ┃
            ╰──────╯     ┗━━━━━━┛
             App 3        App 4



                  ○ ● ○ ○ ○
         ↵ open   s silent   q quit
        """
    )
  }

  @Test func `no size breaks a screen`() {
    let opened: [PhoneMessage] = Self.alerts + [.key(.character("v"))]
    for messages in [Self.badges, Self.alerts, opened, [.apps([]), .gap(dropped: 1)]] {
      for columns in Array(0...50) + [119, 120, 400] {
        for rows in Array(0...20) + [40, 100] { _ = screen(columns, rows, messages) }
      }
    }
  }

  @Test func `a badge shows all its digits and nothing else (B3)`() {
    let frame = screen(40, 12, [.push(Sample.push(1, badge: .max)), .push(Sample.push(2, Sample.mail, badge: 0))])
    #expect(frame.contains("◖9223372036854775807◗"))
    #expect(frame.count(where: { $0 == "◖" }) == 1)
  }
}
