import Testing

@testable import PushPolicy

/// Rule A9: no advertising in an alert, unless the user allowed it.
struct AdDetectorTests {
  private let detector = AdDetector()

  /// Ads that every model must detect.
  static let ads = [
    "Flash sale! Up to 70% off everything. Shop now before midnight",
    "Get 50% off your next order with code SAVE50. Limited time only, shop now!",
    "We miss you! Come back and enjoy 30% off all shoes today only",
    "Upgrade to Premium today and save 40%. Limited time offer, claim now",
    "限时特惠，全场五折起，满300减100，快来抢购！",
    "双十一大促，爆款直降200元，限量抢购，先到先得",
    "送您50元优惠券，今日有效，立即领取下单更优惠",
  ]

  /// Texts that resemble ads but are none, by kind.
  static let ordinary = [
    "bank": [
      "Your card ending 4410 was charged $84.12 at Verizon. Available balance $1,203.50",
      "Refund of $39.99 from Amazon has been credited to your account", "您尾号1180的卡消费28.50元，余额1203.18元",
    ],
    "delivery": [
      "Your order has shipped and arrives Friday", "Your parcel 4451023391 is out for delivery",
      "您的快递已到菜鸟驿站，取件码702913，请及时领取",
    ],
    "operations": [
      "Build 318 failed on main: 2 tests red", "Coupon service returned 500 for 4% of requests in the last 10 minutes",
      "优惠券服务CPU使用率超过90%，已持续5分钟",
    ],
    "chat": ["Tom: are you free tonight? want to get pizza?", "妈妈：晚上回来吃饭吗？买了你爱吃的排骨"],
    "calendar": ["Team meeting starts in 10 minutes in room 4", "明天上午10点在三号会议室召开季度复盘会"],
    "subscription": [
      "Your free trial ends tomorrow. You will be charged $9.99", "Discount code SPRING25 was approved by Dana",
      "您的试用期明天结束，届时将按每月25元扣费",
    ],
  ]

  @Test(arguments: ads) func `A9: a plain ad is refused`(_ text: String) {
    #expect(detector.assess([text]).outcome == .refuse, "\(detector.assess([text]).score)")
  }

  @Test(arguments: ordinary.keys.sorted()) func `A9: what people wait for passes`(_ kind: String) {
    for text in Self.ordinary[kind] ?? [] { #expect(detector.assess([text]).outcome == .pass, "\(kind): \(text)") }
  }

  @Test func `nothing, and texts without words, pass`() {
    for texts in [[], [""], ["", ""], ["   "], ["…"], ["12345"], ["🔥🔥🔥"], ["\u{200B}"]] {
      #expect(detector.assess(texts).outcome == .pass)
    }
  }

  @Test(arguments: ["1f2f9fe0-b17e-5eb4-0311-6d2443c0791a", "1F2F9FE0-B17E-5EB4-0311-6D2443C0791A"])
  func `the digits of an identifier stand for no letters`(_ identifier: String) {
    for text in [identifier, "Job \(identifier) has ended", "(\(identifier))"] {
      #expect(detector.assess([text]).outcome == .pass, "\(text)")
    }
  }

  @Test func `a verdict is the same however often it is asked, and whatever came before`() {
    let texts = Self.ads + Self.ordinary.values.joined()
    let first = texts.map { detector.assess([$0]) }
    #expect(texts.reversed().map { detector.assess([$0]) } == first.reversed())
  }

  @Test func `an outcome is that of the verdict, also where the characters are not read`() {
    let texts = Self.ads + Self.ordinary.values.joined()
    for text in texts + texts.flatMap({ text in Disguises.all.map { $0.1(text) } }) {
      let verdict = detector.assess([text]).outcome
      for least in [AdAssessment.Outcome.hold, .refuse] {
        detector.begin()
        detector.add(text)
        let expected = least == .refuse && verdict == .hold ? .pass : verdict
        #expect(detector.outcome(from: least) == expected, "\(text)")
      }
    }
  }

  @Test func `the characters of a sentence add no more than the bound`() throws {
    let texts = Self.ads + Self.ordinary.values.joined()
    for text in texts {
      let score = try #require(detector.largestCharacterScore(of: text))
      #expect(score <= AdDetector.maximumCharacterScore, "\(text)")
    }
  }

  @Test func `the largest score of the characters is that of one sentence or of the whole text`() throws {
    let sentences = ["Up to 70% off everything today only!", "Build 318 failed on main.", "Team meeting in room 4."]
    let scores = try sentences.map { try #require(detector.largestCharacterScore(of: $0)) }
    #expect(Set(scores).count == 3)
    let text = sentences.joined(separator: " ")
    let largest = try #require(detector.largestCharacterScore(of: text))
    #expect(largest >= scores.reduce(-.infinity, max))
    // A text that is too long counts with its sentences only.
    let long = Array(repeating: sentences[0], count: 20).joined(separator: " ")
    #expect(detector.largestCharacterScore(of: long) == scores[0])
    // Texts of less than eight bytes are not assessed alone.
    #expect(detector.largestCharacterScore(of: "Sale!") == nil)
  }

  @Test(arguments: ads) func `without the places that are named the rest passes`(_ text: String) {
    expectFlip([text])
    expectFlip(["Hello", text])
    expectFlip(Disguises.all.map { $0.1(text) })
  }

  /// Checks that the texts pass without the parts in the evidence.
  private func expectFlip(_ texts: [String]) {
    let evidence = detector.explain(texts)
    #expect(evidence.isEmpty == (detector.assess(texts).outcome == .pass))
    var rest = texts.map { Array($0.utf8) }
    for place in evidence.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
      #expect(Array(texts[place.text].utf8)[place.range].elementsEqual(place.quote.utf8))
      rest[place.text].removeSubrange(place.range)
    }
    #expect(detector.assess(rest.map { String(decoding: $0, as: UTF8.self) }).outcome == .pass, "\(texts)")
    #expect(evidence.map(\.weight) == evidence.map(\.weight).sorted(by: >))
  }

  /// Everyday phrases without an offer.
  static let neutral = [
    "ok", "thanks", "see you tomorrow", "on my way", "good night", "happy birthday", "call me back", "are you home",
    "where are you", "Your order has shipped", "Build 318 failed", "Meeting in room 4", "dinner is ready", "I miss you",
    "the train is late", "rain tomorrow", "new message", "battery low", "door open", "well done", "no problem",
    "let me check", "what time", "so tired", "sounds good", "get well soon", "safe travels", "new comment on your post",
    "backup completed", "payment received", "code 448120", "flight delayed", "gate changed", "class cancelled",
    "homework is due", "lab results are ready", "please reply", "I will be late", "can you help", "look at this",
    "好的", "收到", "晚上回来吃饭吗", "明天见", "谢谢", "在路上", "生日快乐", "早安", "晚安", "辛苦了", "会议改到三点", "快递已到", "验证码448120",
    "构建失败", "服务器恢复", "门已打开", "下雨了", "孩子放学了", "你在哪", "我到了", "没问题", "余额不足", "航班延误", "作业交了吗", "等你",
    "danke dir", "bis später", "gute nacht", "bin gleich da", "alles gute", "wo bist du", "das Paket ist da",
    "ruf mich an",
    "hasta luego", "buenas noches", "ya llego", "gracias", "dónde estás", "feliz cumpleaños",
    "la reunión es a las tres",
    "à demain", "bonne nuit", "j'arrive", "merci", "où es-tu", "joyeux anniversaire", "le train est en retard",
    "bisous",
    "a domani", "buonanotte", "arrivo", "grazie", "dove sei", "buon compleanno", "il treno è in ritardo",
    "ciao a tutti",
    "até amanhã", "boa noite", "estou chegando", "obrigado", "cadê você", "feliz aniversário", "bom dia", "tudo bem",
    "また明日", "おやすみ", "今行くよ", "ありがとう", "どこにいるの", "誕生日おめでとう", "電車が遅れています", "おはよう",
    "내일 봐", "잘 자", "가는 중", "고마워", "어디야", "생일 축하해", "회의 시작", "до завтра", "спокойной ночи", "уже еду", "спасибо",
    "ты где", "с днём рождения", "поезд опаздывает", "sampai nanti", "lagi di jalan", "yoldayım", "iyi geceler",
    "đang về", "ngủ ngon", "ราตรีสวัสดิ์", "صباح الخير",
  ]

  @Test func `A9: an everyday phrase is not refused, however often it is repeated`() {
    #expect(Self.neutral.count >= 129)
    for phrase in Self.neutral {
      let text = Array(repeating: phrase, count: 40).joined(separator: " ")
      #expect(detector.assess([text]).outcome != .refuse, "\(phrase): \(detector.assess([text]).score)")
      #expect(detector.assess([phrase]).outcome == .pass, "\(phrase): \(detector.assess([phrase]).score)")
    }
  }

  @Test func `a Chinese phrase has no meaning in a Japanese text, and a few kana hide none`() {
    let reader = detector.reader
    func concepts(_ text: String) -> UInt64 {
      reader.reset()
      reader.append(text)
      reader.tokenize()
      return detector.lexicon.concepts(reader)
    }
    let fold = 1 << UInt64(AdConcept.priceCut.rawValue) as UInt64
    #expect(concepts("直降") & fold != 0)
    #expect(concepts("ここは直降です") & fold == 0)
    #expect(concepts("の直降，全场爆款限量抢购先到先得") & fold != 0)
  }

  @Test func `no bytes crash it, and every refusal is explained`() {
    var random = SeededGenerator(state: 5)
    let words = Self.ads.flatMap { $0.split(separator: " ").map(String.init) }
    for _ in 0..<300 {
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0...30, using: &random) {
        switch Int.random(in: 0...4, using: &random) {
        case 0: bytes.append(UInt8.random(in: 0...255, using: &random))
        case 1: bytes += (Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random)) ?? "x").description.utf8
        case 2: bytes += words.randomElement(using: &random)!.utf8 + [32]
        case 3: bytes += "\u{200B}".utf8
        default: bytes += ["$", ".", " ", "-", "0", "1", "%", "@", "/"].randomElement(using: &random)!.utf8
        }
      }
      expectFlip([String(decoding: bytes, as: UTF8.self)])
      detector.begin()
      detector.add(bytes.span)
      _ = detector.verdict()
    }
  }

  @Test func `of a very long text only the beginning is read, and it is explained in bounded steps`() {
    expectFlip([String(repeating: Self.ads[0] + " ", count: 200)])
    expectFlip(Array(repeating: Self.ads[4], count: 300))
  }

  @Test func `all that a person may read of an alert is judged`() throws {
    let parser = JSONParser()
    func outcome(_ alert: String) throws -> AdAssessment.Outcome {
      let bytes = Array(#"{"aps":{"alert":\#(alert)}}"#.utf8)
      return detector.assess(try #require(try parser.payload(bytes.span).notification.alert))
    }
    let ad = Self.ads[0]
    #expect(try outcome(#""\#(ad)""#) == .refuse)
    #expect(try outcome(#"{"title":"\#(ad)","body":"x"}"#) == .refuse)
    #expect(try outcome(#"{"subtitle":"\#(ad)","body":"x"}"#) == .refuse)
    #expect(try outcome(#"{"body":"x","action-loc-key":"\#(ad)"}"#) == .refuse)
    #expect(try outcome(#"{"loc-key":"NEWS","loc-args":["\#(ad)"]}"#) == .refuse)
    #expect(try outcome(#"{"loc-key":"%@","loc-args":["\#(ad)"]}"#) == .refuse)
    #expect(try outcome(#"{"body":"x","title-loc-key":"T","title-loc-args":["\#(ad)"]}"#) == .refuse)
    #expect(try outcome(#"{"body":"Your order has shipped"}"#) == .pass)
  }

  @Test func `the breach names A9 and quotes what speaks for it`() throws {
    var alert = PushNotification.Alert()
    alert.body = Self.ads[1]
    let violation = detector.violation(of: alert)
    #expect((violation.rule, violation.pointer) == (.a9, "/aps/alert"))
    #expect(!violation.evidence.isEmpty)
  }

  @Test func `the embedded model is small, of this version and of these features`() {
    let model = AdModel.embedded
    #expect(model.bytes.count <= AdModel.maximumSize)
    #expect(model.signature == AdDetector.signature, "the features have changed: run make train-ads")
    #expect(model.holdThreshold <= model.refuseThreshold)
    let bytes = model.bytes
    #expect(unsafe bytes.withUnsafeBytes { unsafe AdModel($0)?.bytes } == bytes)
    #expect(unsafe bytes.dropLast().withUnsafeBytes { unsafe AdModel($0) } == nil)
  }
}
