/// The meaning of words in a text, in any language. The concepts of a text, alone and in pairs, have most of the
/// weight in a verdict.
///
/// The raw values are indices in the model: a new concept is appended at the end, and the model has to be trained
/// again.
package enum AdConcept: Int, CaseIterable {
  // Concepts of advertising.
  case priceCut, offer, coupon, freebie, buyCall, clickCall, applyCall, urgency, scarcity, winBack, exclusivity, novelty
  case contest, reward, referral, loan, investment, gambling, jobLure, realEstate, course, beauty, price, superlative
  case upsell, trialOffer, saving, occasion, optOut, contact, freeDelivery, temptation, food, travel, gameGoods, adult,
    service
  // Concepts of all other notifications.
  case code, secrecy, security, debit, credit, account, order, parcel, build, incident, appointment, transport, weather
  case message, personal, approval, status, userAlert, medical, school, home, news, renewal, question, ticket, workTerm

  /// All concepts of advertising, as bits.
  static let advertising: UInt64 = 1 << UInt64(AdConcept.code.rawValue) - 1

  /// The name of the concept in evidence.
  package var name: String {
    switch self {
    case .priceCut: "price cut"
    case .offer: "offer"
    case .coupon: "coupon"
    case .freebie: "free goods"
    case .buyCall: "call to buy"
    case .clickCall: "call to look"
    case .applyCall: "call to sign up"
    case .urgency: "urgency"
    case .scarcity: "scarcity"
    case .winBack: "win-back"
    case .exclusivity: "exclusivity"
    case .novelty: "new goods"
    case .contest: "contest"
    case .reward: "reward"
    case .referral: "referral"
    case .loan: "loan"
    case .investment: "investment"
    case .gambling: "gambling"
    case .jobLure: "job lure"
    case .realEstate: "property"
    case .course: "course"
    case .beauty: "beauty"
    case .price: "price"
    case .superlative: "praise"
    case .upsell: "upsell"
    case .trialOffer: "trial offer"
    case .saving: "saving"
    case .occasion: "sales event"
    case .optOut: "opt-out"
    case .contact: "sales contact"
    case .freeDelivery: "free delivery"
    case .temptation: "temptation"
    case .food: "food"
    case .travel: "travel"
    case .gameGoods: "game goods"
    case .adult: "adult"
    case .service: "service"
    default: "\(self)"
    }
  }
}
