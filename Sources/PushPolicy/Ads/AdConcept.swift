/// What words of a text speak of, in any language. A text's concepts, alone and in pairs, weigh most in the verdict.
///
/// Raw values are places in the model: a new concept goes to the end, and the model is trained anew.
package enum AdConcept: Int, CaseIterable {
  // What ads speak of.
  case priceCut, offer, coupon, freebie, buyCall, clickCall, applyCall, urgency, scarcity, winBack, exclusivity, novelty
  case contest, reward, referral, loan, investment, gambling, jobLure, realEstate, course, beauty, price, superlative
  case upsell, trialOffer, saving, occasion, optOut, contact, freeDelivery, temptation, food, travel, gameGoods, adult,
    service
  // What everything else speaks of.
  case code, secrecy, security, debit, credit, account, order, parcel, build, incident, appointment, transport, weather
  case message, personal, approval, status, userAlert, medical, school, home, news, renewal, question, ticket, workTerm

  /// As evidence names it.
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
