/// The English phrases of advertising. A number in a phrase matches any number, an address any address.
extension AdLexicon {
  static let phrases: [(AdConcept, String)] = [
    (
      .priceCut,
      """
      sale|sales event|dizcount|diskount|discountz|salez|ha1f price|haf price|flash sale|clearance|5% off|off everything|off sitewide|off your|half price|half off|price drop|price cut|\
      prices slashed|discount|discounts|discounted|markdown|markdowns|reduced to|reduced price|$5 off|2 for 1|two for one|buy one get one|bogo|\
      buy 2 get 1|buy two get one|up to 50%|lower prices|low prices|knockdown|rollback|now only|was $5 now $3|5% cheaper|\
      on sale|sale ends|price slash|cut price|price dropped|prices drop|50 percent off|extra 10%|final sale|outlet|half the price
      """
    ),
    (
      .offer,
      """
      dealz|offerz|offaz|offer|offers|deal|deals|special offer|special offers|promo|promotion|promotions|promotional|bargain|bargains|steal|\
      bundle|bundles|best offer|hot deal|hot deals|super saver|weekend special|special price|introductory offer|limited offer|\
      deal of the day|daily deals|top deals|great deals|our best deals|happy hour|perks|perk|specials
      """
    ),
    (
      .coupon,
      """
      koupon|koupons|cupon|vowcher|vouchaz|coupon|coupons|voucher|vouchers|promo code|discount code|coupon code|use code|with code|apply code|enter code|gift card|\
      gift cards|code save|at checkout|redeem|redeem now|redeem your|gift voucher|code inside|your code
      """
    ),
    (
      .freebie,
      """
      free gift|free gifts|free|for free|freebie|freebies|on us|on the house|complimentary|gift with purchase|free sample|\
      free drink|free coffee|free month|free entry|free spins|free installation|get one free|free upgrade|free access|\
      no cost|zero cost|at no charge|free of charge|a gift for you|gift inside|a little gift|a treat for you|free gems|free coins|\
      free trial class|free stuff|free meal|free side|free dessert|$0|0 fee|0 down|no annual fee|zero fee
      """
    ),
    (
      .buyCall,
      """
      shop now|shop|shop today|shop the|buy now|order now|order today|order yours|get yours|get it now|grab|grab it|grab yours|grab a|\
      grab your|snag|stock up|add to cart|check out now|complete your purchase|complete your order|finish your order|\
      checkout now|purchase now|buy yours|pre order|preorder|pre order now|pick one up|treat yourself|fill your basket|fill your cart|\
      order in|visit our store|visit us|in stores now|in store|shop online|buy today|reserve yours|score a|score up to|bag a|bag yours|\
      come and buy|get the look|get yours today|hurry in|come on in|drop by|swing by
      """
    ),
    (
      .clickCall,
      """
      click|click here|tap here|tap to|tap now|learn more|find out more|discover|explore|browse|check it out|check out our|\
      see what|take a look|download now|install now|swipe up|click the link|tap for|see more|see the|have a look|peek|open the app|\
      open the app to|view offer|view deals|visit|log on to|hit the link|open to reveal|reveal|see inside|look inside|watch now|\
      stream now|start streaming|binge|listen now|read now|start reading|play now
      """
    ),
    (
      .applyCall,
      """
      apply now|apply today|sign up|sign up now|sign up today|register now|register today|subscribe|subscribe now|subscribe today|\
      join now|join today|join us|join the club|become a member|enroll|enrol|enroll now|enrol now|enroll today|book now|book today|\
      book your|book a|reserve|reserve now|reserve your|get started|start now|start today|start your|switch to|switch today|\
      claim|claim now|claim your|claim yours|activate|activate now|opt in|open an account|open your account|get a quote|\
      call now|call today|text|reply yes|enter now|rsvp|secure your|secure yours|save your spot|recharge now|top up now|try|try it|\
      try now|request a demo|schedule a demo|get tickets|buy tickets|tickets on sale|get your|make it yours|take advantage|jump in|\
      sign me up|donate now|donate today|vote now|start for|upgrade now|upgrade today|top up and|deposit now|deposit and
      """
    ),
    (
      .urgency,
      """
      last chance|ends tonight|ends today|ends soon|ends sunday|ends midnight|ends at midnight|ending soon|ends in|hurry|hurry up|\
      limited time|for a limited time|limited time only|today only|only today|this weekend only|one day only|24 hours only|don't miss|\
      dont miss out|do not miss|don't wait|act now|act fast|final hours|last hours|last day|last days|final day|final call|expires soon|\
      before it's gone|before its gone|before they're gone|before it's too late|while you can|now or never|time is running out|\
      clock is ticking|going fast|going going|closing soon|tonight only|offer ends|offer expires|ends tomorrow|final chance|valid till|\
      valid until|only until|quick|now until|until midnight|don't sleep on|starts now|is on|is live|starts today|starts early|\
      not for long|won't last|countdown|last call|running out|for 24 hours|for 48 hours|offer valid|this week only|blink and
      """
    ),
    (
      .scarcity,
      """
      while stocks last|while supplies last|limited stock|limited edition|limited seats|only 3 left|only a few left|selling fast|\
      selling out|almost gone|almost sold out|few left|last few|last seats|seats going fast|limited quantity|limited spots|\
      few spots|first 100|first 50 customers|back in stock|low stock|nearly gone|only 3 spots|just 3 left|flying off|sold out soon
      """
    ),
    (
      .winBack,
      """
      we miss you|miss you|misses you|missed you|come back|welcome back|it's been a while|its been a while|long time no see|\
      still interested|still thinking|left something behind|left behind|you left|in your cart|your cart|your bag|forgot something|\
      forget something|still want|haven't seen you|where have you been|your wishlist|waiting for you|is waiting|are waiting|\
      we saved|we've saved|saved your cart|return to|return and|pick up where you left off|still here|ready when you are|\
      remember us|can't stop thinking|we held|still available|looked at|items you viewed|you viewed|recently viewed
      """
    ),
    (
      .exclusivity,
      """
      exclusive|exclusively|just for you|only for you|for members|members only|member only|member exclusive|vip|early access|\
      handpicked|hand picked|picked for you|picked just for you|selected for you|chosen for you|you've been selected|invitation|\
      you're invited|invite only|insider|app only|app exclusive|subscriber only|specially for you|personalised offer|tailored for you|\
      curated|sneak peek|first access|priority access|reserved for you|for new customers|new customers|new users|first order|\
      your first order|first purchase|next order|next purchase|your next order|loyal customers|recommended for you
      """
    ),
    (
      .novelty,
      """
      new arrivals|new arrival|new in|just in|just landed|just dropped|new collection|introducing|meet the|meet our|say hello to|\
      new season|new look|now available|brand new|all new|has arrived|have arrived|is here|are here|new menu|new range|new release|\
      launching|launch|the wait is over|new styles|fresh drop|new drop|drop|latest collection|lookbook|must have|must haves|trending|\
      collection|collections|new flavour|new flavor|now open|coming soon|fresh in
      """
    ),
    (
      .contest,
      """
      win|win a|win big|winner|winners|prize|prizes|giveaway|lucky draw|sweepstakes|raffle|jackpot|spin the wheel|spin to win|spin|\
      scratch card|contest|enter to win|chance to win|congratulations|you've won|you have won|won a|lucky winner|mystery box|draw|\
      scratch|awarded|guaranteed prize|grand prize
      """
    ),
    (
      .reward,
      """
      cashback|cash back|bonus|bonuses|earn|earn points|points|double points|reward|rewards|loyalty|miles|bonus points|bonus miles|\
      get rewarded|triple points|extra points|stars|bonus stars|earn up to|$5 credit|get $5|welcome bonus|sign up bonus|streak bonus|\
      2x|3x points|5x
      """
    ),
    (
      .referral,
      """
      refer a friend|refer|invite a friend|invite friends|invite your friends|you both get|share with friends|tell a friend|\
      bring a friend|give $10 get $10|referral
      """
    ),
    (
      .loan,
      """
      loan|loans|personal loan|instant loan|cash loan|payday|credit card offer|pre approved|preapproved|pre qualified|no credit check|\
      low interest|interest free|0% apr|0% interest|apr|emi|credit limit up to|borrow|borrow up to|instant cash|cash in minutes|\
      easy approval|approval in minutes|refinance|mortgage rates|debt|consolidate|line of credit|financing|pay later|buy now pay later|\
      low rate|instant approval|no paperwork
      """
    ),
    (
      .investment,
      """
      invest|invest now|start investing|investing|returns|high returns|guaranteed returns|trading signals|forex|crypto|bitcoin|stock tips|\
      zero commission|commission free|trade now|trade with|free stock|passive income|profit|profits|double your|5% apy|apy|\
      high yield|savings rate|grow your money|make money|portfolio growth|airdrop|presale|presale is live|to the moon|100x
      """
    ),
    (
      .gambling,
      """
      casino|bet|bets|betting|free bet|free bets|odds|boosted odds|slots|slot|poker|roulette|jackpots|wager|bookmaker|rummy|blackjack|\
      first deposit|deposit bonus|matched bet|parlay|sportsbook|lottery
      """
    ),
    (
      .jobLure,
      """
      work from home|earn from home|part time job|easy money|extra income|earn $500|per day from|no experience needed|be your own boss|\
      daily payment|side hustle|quick cash|make $500|weekly pay
      """
    ),
    (
      .realEstate,
      """
      luxury apartments|apartments from|villas|villa|plots|open house|dream home|new homes|flats from|condo|condos|down payment|\
      sea view|move in ready|your new home
      """
    ),
    (
      .course,
      """
      course|courses|online course|bootcamp|certification|webinar|free webinar|masterclass|master class|free class|tuition|\
      learn from|coaching|scholarship|admissions open|enrolment|learn spanish|learn a language|workshop|training programme|boost your career
      """
    ),
    (
      .beauty,
      """
      skincare|skin care|glow|glowing skin|makeup|serum|spa|massage|facial|weight loss|lose weight|slim|slimming|whitening|salon|\
      manicure|styling|beauty|lashes|glow up|detox|gym membership|get fit|your skin|perfume|fragrance
      """
    ),
    (
      .price,
      """
      from $5|starting at $5|starting from $5|only $5|just $5|as low as $5|from only $5|for $5|at $5|under $5|from 5|starting from|\
      starting at|prices from|as low as|from just|for just|at just|for only|at only|for as little as|$5 a month|$5 month|$5 per month|\
      $5 a day|$5 a week|rs 5|from rs 5|at rs 5|just rs 5|only rs 5|per month|one low price|$5 only|low price|affordable|budget friendly
      """
    ),
    (
      .superlative,
      """
      best|amazing|incredible|unbeatable|unmissable|unbelievable|lowest price|lowest prices|great value|hottest|biggest|huge|massive|\
      epic|mega|super|ultimate|perfect|stunning|fabulous|fantastic|irresistible|world class|premium quality|top rated|best selling|\
      bestseller|bestsellers|best price|best prices|prices you'll love|you'll love|never been better|number one|finest|luxury|luxurious|\
      favourites|favorites|insane|jaw dropping|like never before|next level
      """
    ),
    (
      .upsell,
      """
      upgrade to|upgrade|go premium|premium|pro plan|go pro|unlock|unlock all|unlock everything|ad free|go ad free|annual plan|family plan|\
      unlimited|unlimited calls|unlimited data|without limits|no limits|plus plan|yearly plan|gold membership|platinum|subscribe from|\
      subscription|membership|get more|get more out of|do more with|even more|go further|supercharge|boost your|add on
      """
    ),
    (
      .trialOffer,
      """
      free trial|try free|try it free|try for free|try premium|try plus|trial for|first month free|first month|30 days free|30 day trial|\
      cancel anytime|no commitment|free for 30 days|free for 3 months|months free|try before you buy|risk free|money back|free demo|\
      start your free trial|start free|no strings attached|months on us
      """
    ),
    (
      .saving,
      """
      save|save big|save up to|save 50%|save $5|save more|you save|saving|savings|big savings|more for less|pay less|spend $50|\
      spend $50 get $5|get 20%|get 50%|extra savings|value|worth $5|for less|less than|cut your bill|slash
      """
    ),
    (
      .occasion,
      """
      black friday|cyber monday|prime day|boxing day|singles day|11.11|christmas sale|holiday sale|summer sale|winter sale|spring sale|\
      end of season|anniversary sale|grand opening|new year sale|valentine's|mother's day|father's day|back to school|easter sale|\
      diwali|eid sale|halloween|thanksgiving|birthday treat|payday sale|festive|mid season|season sale|super sunday|big billion|gift guide
      """
    ),
    (
      .optOut,
      """
      reply stop|text stop|stop to|to unsubscribe|unsubscribe|opt out|to opt out|t&c|t&cs|t&cs apply|tncs|terms apply|conditions apply|\
      tc apply|stop2|to stop|18+|msg rates|txt stop|terms and conditions apply|sponsored|adv|advertisement
      """
    ),
    (
      .contact,
      """
      whatsapp us|call us|contact us|dm us|dm to|message us|text us|for details call|for more info|for enquiries|hotline|call 08001234567|\
      txt|our showroom|visit our|website|our website|our store|our shop|call free|dealer|retailer|near you|store near you
      """
    ),
    (
      .freeDelivery,
      """
      free delivery|free shipping|free returns|free next day|delivered free|no delivery fee|zero delivery fee|delivery on us|ships free|\
      $0 delivery|delivery fee off|free postage
      """
    ),
    (
      .temptation,
      """
      you deserve|deserve|treat|spoil|indulge|love|fall in love|make every|make this|get ready|ready for|ready to|imagine|dream|dreaming|\
      perfect for|perfect gift|gifts for|gift ideas|why wait|looking for|need a|want to|time to|time for|what are you waiting for|\
      it's time|surprise|something special|special for|guess what|good news|great news|don't forget to|say yes|say goodbye to|kick start|\
      kickstart|make the most|your weekend|weekend plans|cosy|celebrate|thank you gift|for someone you love|inspired|inspiration|refresh|\
      transform|elevate|enjoy|experience|your style|in style|psst|hey you|obsessed
      """
    ),
    (
      .food,
      """
      craving|cravings|hungry|delicious|tasty|yummy|pizza|burger|burgers|fries|sushi|combo|meal deal|family meal|lunch special|foodie|\
      breakfast|dinner sorted|dinner tonight|feast|bite|crispy|juicy|menu|latte|coffee|dessert|donuts|tacos|wings|chicken bucket|\
      restaurants near you|cheesy
      """
    ),
    (
      .travel,
      """
      getaway|getaways|city break|city breaks|holiday deals|vacation|flights from|flights to|fly to|cheap flights|hotel deals|hotels from|\
      staycation|escape|cruise|beach|all inclusive|package holiday|trip of a lifetime|stays|weekend away|wanderlust|next trip|\
      next adventure|adventure awaits|dream trip|tour packages|road trip|resort
      """
    ),
    (
      .gameGoods,
      """
      gems|coins|gold coins|diamonds|skins|skin|loot|loot box|season pass|battle pass|free chest|chest|power up|starter pack|\
      epic hero|legendary|summon|gacha|energy refill|extra lives|in game|double xp|vip pack|login bonus|daily bonus|new hero|new level|levels
      """
    ),
    (
      .adult,
      "hot singles|singles in your area|dating|sexy|meet singles|adult|horny|chat with girls|local girls|hookup|lonely|xxx|flirt"
    ),
    (
      .service,
      """
      seo services|web design|we build|we provide|we supply|we offer|manufacturer|supplier|wholesale|bulk order|cleaning service|\
      plumber|renovation|printing|insurance|insure|car insurance|travel insurance|life insurance|quote|free quote|solar panels|broadband|\
      fibre|fiber|5g plan|data plan|data pack|recharge|hello tune|caller tune|ringtone|ringtones|sim only|contract phone|roaming pack
      """
    ),
  ]
}
