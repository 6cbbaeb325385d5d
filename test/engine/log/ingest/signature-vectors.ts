/** Signed requests as their senders publish them: secret, headers, body, and a time at which they are new. */

/** The test of PagerDuty's own Go client (go-pagerduty, webhookv3, `valid`). */
export const PAGERDUTY = {
  secret: 'lDQHScfUeXUKaQRNF+8XIiDKZ7XX3itBAYzwU0TARw8lJqRnkKl2iB1anSb0Z+IK',
  headers: {
    'x-pagerduty-signature': 'v1=0c0b9495b893a39e70d1fea2fe11fbe0a825f88b9f67846f6cc07dd2bc5476cd',
  },
  body: '{"event":{"id":"01BWDWL3NYY7LUFPZCC28QUCMK","event_type":"incident.priority_updated","resource_type":"incident","occurred_at":"2021-04-26T17:36:27.458Z","agent":{"html_url":"https://acme.pagerduty.com/users/PLH1HKV","id":"PLH1HKV","self":"https://api.pagerduty.com/users/PLH1HKV","summary":"Tenex Engineer","type":"user_reference"},"client":null,"data":{"id":"PGR0VU2","type":"incident","self":"https://api.pagerduty.com/incidents/PGR0VU2","html_url":"https://acme.pagerduty.com/incidents/PGR0VU2","number":2,"status":"triggered","title":"A little bump in the road","service":{"html_url":"https://acme.pagerduty.com/services/PF9KMXH","id":"PF9KMXH","self":"https://api.pagerduty.com/services/PF9KMXH","summary":"API Service","type":"service_reference"},"assignees":[{"html_url":"https://acme.pagerduty.com/users/PTUXL6G","id":"PTUXL6G","self":"https://api.pagerduty.com/users/PTUXL6G","summary":"User 123","type":"user_reference"}],"escalation_policy":{"html_url":"https://acme.pagerduty.com/escalation_policies/PUS0KTE","id":"PUS0KTE","self":"https://api.pagerduty.com/escalation_policies/PUS0KTE","summary":"Default","type":"escalation_policy_reference"},"teams":[{"html_url":"https://acme.pagerduty.com/teams/PFCVPS0","id":"PFCVPS0","self":"https://api.pagerduty.com/teams/PFCVPS0","summary":"Engineering","type":"team_reference"}],"priority":{"html_url":"https://acme.pagerduty.com/account/incident_priorities","id":"PSO75BM","self":"https://api.pagerduty.com/priorities/PSO75BM","summary":"P1","type":"priority_reference"},"urgency":"high","conference_bridge":{"conference_number":1000,"conference_url":"https://example.com"},"resolve_reason":null}}}',
  now: 1_619_458_587_458,
}

/** The worked example of docs.slack.dev, Verifying requests from Slack. */
export const SLACK = {
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  headers: {
    'x-slack-request-timestamp': '1531420618',
    'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  },
  body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  now: 1_531_420_618_000,
}

/** The reference vector of the Standard Webhooks libraries' tests. */
export const STANDARD = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  body: '{"test": 2432232314}',
  now: 1_614_265_330_000,
}

interface Signed {
  secret: string
  header?: string
  headers: Record<string, string>
  body: string
}

/** Those of hmac_sha256 and hmac_sha512, by who publishes them. */
export const PLAIN: Readonly<Record<string, Signed>> = {
  /** support.atlassian.com, Manage webhooks, of Bitbucket Cloud; Jira Cloud signs in the same way. */
  'Bitbucket and Jira': {
    secret: "It's a Secret to Everybody",
    header: 'X-Hub-Signature',
    headers: {
      'x-hub-signature': 'sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9',
    },
    body: 'Hello World!',
  },
  /** The test of LINE's SDK for Node (line-bot-sdk-nodejs, validate-signature). */
  LINE: {
    secret: 'test_secret',
    header: 'X-Line-Signature',
    headers: { 'x-line-signature': 't7Hn4ZDHqs6e+wdvI5TyQIvzie0DmMUmuXEBqyyE/tM=' },
    body: '{"hello":"world"}',
  },
  /** circleci.com, Outbound webhooks, the table of example signatures; the header lists versions with commas. */
  CircleCI: {
    secret: 'hunter123',
    header: 'circleci-signature',
    headers: {
      'circleci-signature':
        'v1=9be2242094a9a8c00c64306f382a7f9d691de910b4a266f67bd314ef18ac49fa,v2=...,v3=...',
    },
    body: 'an-important-request-payload',
  },
}

/** docs.github.com, Validating webhook deliveries. */
export const GITHUB = {
  secret: "It's a Secret to Everybody",
  headers: {
    'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  },
  body: 'Hello, World!',
  now: 0,
}

/** Made by stripe-node 23.1.0, webhooks.generateTestHeaderString: Stripe publishes no signature whose secret is known. */
export const STRIPE = {
  secret: 'whsec_test_secret',
  headers: {
    'stripe-signature': 't=1614265330,v1=3c5817089d739023dd6190f70a3757e04f7a2fd8b5dab12c2e000f51970dccff',
  },
  body: '{"id":"evt_test_webhook","object":"event"}',
  now: 1_614_265_330_000,
}
