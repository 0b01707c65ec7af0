/// The English phrases of all other notifications.
extension AdLexicon {
  static let otherPhrases: [(AdConcept, String)] = [
    (
      .code,
      """
      verification code|security code|login code|one time password|otp|passcode|one time code|authentication code|pin code|2fa code|\
      confirmation code|is your code|your code is|access code|sign in code|use 123456|is the code|otp is|code is 1234|pickup code
      """
    ),
    (
      .secrecy,
      """
      do not share|don't share|never share|do not disclose|not share it|keep it secret|expires in 10 minutes|valid for 10 minutes|\
      share it with no one|with anyone|we will never ask|never ask for
      """
    ),
    (
      .security,
      """
      new sign in|sign in|signed in|login attempt|logged in|new device|password|was changed|was reset|if this wasn't you|\
      if this was not you|wasn't you|unusual activity|suspicious|fraud|two factor|ssh key|api key|token|permissions|locked|unlocked|\
      recovery email|blocked a|passkey|was revoked|session expired|data breach
      """
    ),
    (
      .debit,
      """
      charged|was charged|debited|spent|you spent|you paid|payment of|payment to|paid|payment received|direct debit|withdrawn|withdrawal|\
      atm|declined|card ending|purchase of|transaction|transaction of|sent $5 to|you sent|standing order|autopay|will be taken|authorised|\
      authorized|payment failed|payment was
      """
    ),
    (
      .credit,
      """
      credited|deposited|deposit of|received $5|you received|refund|refunded|refund of|reimbursed|salary|payout|arrived in your account|\
      interest earned|dividend|transfer from|sent you $5|has been added to your balance|payment from
      """
    ),
    (
      .account,
      """
      balance|available balance|account ending|statement|bill|invoice|is due|due on|due date|minimum payment|overdraft|card ending 1234|\
      ending in 1234|your statement|past due|overdue|receipt|tax|a c|insufficient funds|low balance|account number|iban
      """
    ),
    (
      .order,
      """
      order 1234|your order|order confirmed|order number|has shipped|order placed|we received your order|being prepared|preparing your order|\
      is ready for pickup|ready for pickup|order is ready|cancelled|substituted|out of stock|return received|your return|picking your|\
      order update|sales order|purchase order|was accepted by|booking confirmed|reservation confirmed|confirmed for|confirmation|booking ref
      """
    ),
    (
      .parcel,
      """
      parcel|package|packages|out for delivery|delivered|courier|driver|tracking|tracking number|locker|stops away|delivery attempt|\
      customs|depot|mailbox|left at|signed for|arriving today|arrives|shipment|in transit|consignment|delivery window|left with
      """
    ),
    (
      .build,
      """
      build|build failed|pipeline|deploy|deployed|deployment|ci|merge|merged|pull request|commit|branch|tests failed|release|rollback|\
      rolled back|staging|production|lint|coverage|artifact|container|docker|pod|cluster|rollout|migration|repository|review requested|pr|\
      main|hotfix|canary|feature flag|webhook|endpoint|api|config|job|cron|script|service|server
      """
    ),
    (
      .incident,
      """
      alert|alarm|incident|outage|down|latency|error rate|errors|error|exception|crash|crashed|cpu|memory|disk|disk space|threshold|degraded|\
      timeout|timed out|failed|failure|unreachable|recovered|resolved|sev1|on call|escalated|queue|lag|backup|certificate|503|oom|warning|\
      critical|packet loss|replica|node|host|restarted|database
      """
    ),
    (
      .appointment,
      """
      meeting|appointment|reminder|standup|starts in|in 10 minutes|calendar|event|rescheduled|moved to|invited you|accepted your invitation|\
      agenda|1 1|sync|room 4|call with|interview|deadline|due tomorrow|due today|check up|with dr|conference|invite|declined your|at 10:30|\
      starts at|tomorrow at|today at|monday|tuesday|wednesday|thursday|birthday
      """
    ),
    (
      .transport,
      """
      flight|train|gate|boarding|delayed|platform|departs|departure|bus|your ride|seat|terminal|check in|baggage|carousel|traffic|route|\
      leave now|line 4|tram|plate|driver is|stop|ferry|metro|pickup point|parking|charging
      """
    ),
    (
      .weather,
      "rain|storm|thunderstorm|snow|forecast|wind|temperature|heat|flood|warning for|uv index|air quality|frost|tornado|hurricane|fog|°c"
    ),
    (
      .message,
      """
      new message|new messages|missed call|voicemail|mentioned you|replied|replied to|commented|liked|reacted|sent a photo|sent you|tagged you|\
      friend request|followed you|new follower|shared|shared with you|invited you to|is typing|accepted your|added you|posted|unread
      """
    ),
    (
      .personal,
      """
      i|i'm|im|me|my|mine|mom|mum|dad|lol|haha|hahaha|ok|okay|yeah|yes|dude|bro|babe|honey|u|ur|gonna|wanna|let's|lets|he|she|him|her|they|\
      i'll|i'd|i've|i'm at|thanks|thx|sorry|did you|do you|can you|are you|were you|have you|could you|who|why|btw|omg|tmr|see you|\
      see u|love you|call me|text me|remind me|i think|she said|he said|told me|got it|on my way|home|dinner|we're|we should|shall we
      """
    ),
    (
      .approval,
      """
      approved|approved by|approval|rejected|request|requested|application|pending|awaiting|needs your|assigned to you|reviewed|submitted|\
      expense|reimbursement|timesheet|leave request|signature|sign off|permit|licence|license|accepted|ticket 123|case 123
      """
    ),
    (
      .status,
      """
      completed|finished|ready|successful|successfully|updated|succeeded|enabled|disabled|started|stopped|paused|connected|disconnected|offline|\
      online|synced|exported|imported|uploaded|downloaded|installed|processed|scheduled|expired|removed|deleted|created|in progress|done
      """
    ),
    (
      .userAlert,
      """
      price alert|your alert|alert you set|you set|your target|watchlist|your watchlist|you follow|you asked|you're watching|reached your|\
      crossed|you saved|your saved search|back in stock alert|you requested|alert price|target price|rose|fell|closed at|down 3%|up 3%
      """
    ),
    (
      .medical,
      """
      medication|prescription|lab results|test results|vaccine|vaccination|doctor|clinic|dose|pill|pills|blood pressure|heart rate|patient|\
      hospital|dental|dentist|glucose|steps|sleep|workout|surgery|pharmacy|tablet
      """
    ),
    (
      .school,
      """
      assignment|homework|grade|grades|graded|exam|class|lecture|school|teacher|pupil|pupils|parents|library|semester|campus|student|students|\
      quiz|essay|term|professor|lesson|seminar
      """
    ),
    (
      .home,
      """
      front door|doorbell|motion|garage|washing machine|washer|dryer|thermostat|smoke|leak|camera|vacuum|battery|filter|lights|oven|sensor|\
      lock|heating|boiler|dishwasher|fridge|freezer|printer|bin|bins|plants
      """
    ),
    (
      .news,
      """
      breaking|minister|president|election|court|police|reported|reports|announces|announced|says|million|billion|percent|shares|inflation|\
      rates|government|parliament|earnings|quarter|study|researchers|according to|killed|fire|earthquake|wins|beats|final score|goal|half time|\
      match|scored|market|markets|company|companies|ceo|profits rose|analysts
      """
    ),
    (
      .renewal,
      """
      renews|renewed|renewal|will renew|auto renew|trial ends|trial has ended|trial ended|your trial|free trial ends|expires on|expires|expired|\
      your plan|your subscription|will end|has ended|was cancelled|cancel before|next billing|billed|billing|payment method
      """
    ),
    (
      .question,
      "?|what time|where are|how are|how about|when do|when is|when are|which one|anyone|any idea|what do you"
    ),
    (
      .ticket,
      """
      ticket|issue|sprint|backlog|jira|story|task|milestone|roadmap|document|spreadsheet|slide|slides|comment|comments|draft|proposal|\
      contract|client|quote q|lead|crm|team|standup notes|minutes|report|dashboard|experiment|metric|metrics|template|campaign|segment|audience
      """
    ),
    (
      .workTerm,
      """
      coupon service|discount rule|discount approval|promo engine|price list|pricing|sale order|sales report|marketing report|ad spend|\
      promotion of|promoted to|campaign job|voucher batch|offer letter|job offer|counter offer|deal room|deal stage|deal closed|free disk|\
      free space|free memory|free tier|free seats|free slot|free tonight|free tomorrow|are you free|i'm free|free at|free for|free now|\
      free on|free this|flash storage|sale closed|refund policy|stock level|inventory|warehouse|sku|checkout service|cart service
      """
    ),
  ]
}
