/** What may go wrong with a provider, and what must come of it. */
import type { Place, ScriptedReply } from '../../models/scripted-server.ts'

/** What comes of a fault that happens once, before a reply that is well. */
export type Comes =
  /** It is asked again, and ends as if nothing had been. */
  | 'again'
  /** It would fail again: the run, the answer and the plan fail, and say why. */
  | 'final'
  /** The model will not: they fail with these words. */
  | 'refusal'
  /** The reply was cut off by its bound: a run goes on and a plan is asked for again, Ask says so. */
  | 'length'

export interface Fault {
  name: string
  comes: Comes
  /** Of a reply that streams; absent: there is no reply to be in the middle of. */
  places?: Place[]
  /** @param stalled told where nothing more comes, with the bytes that came */
  reply(stalled: (sent: number) => void): ScriptedReply
  /** Words of the reason, of one that is final. */
  says?: string
}

const PLACES: Place[] = ['start', 'thinking', 'text', 'tool']

const status = (code: number, more: ScriptedReply = {}): (() => ScriptedReply) => {
  return () => ({ status: code, error: `answer ${code}`, ...more })
}
const wait = (value: string) => ({ headers: { 'retry-after': value } })
const within = (type: string, message: string) => () => ({ fault: { type, message } })

export const FAULTS: Fault[] = [
  { name: '408', comes: 'again', reply: status(408) },
  { name: '409', comes: 'again', reply: status(409) },
  { name: '429', comes: 'again', reply: status(429) },
  { name: '429 that asks for 7 s', comes: 'again', reply: status(429, wait('7')) },
  { name: '429 that asks for 10 minutes', comes: 'again', reply: status(429, wait('600')) },
  { name: '500', comes: 'again', reply: status(500) },
  { name: '502 of a proxy', comes: 'again', reply: status(502, { body: '<html>Bad gateway</html>' }) },
  { name: '503 that asks for 40 s', comes: 'again', reply: status(503, wait('40')) },
  { name: '504', comes: 'again', reply: status(504) },
  { name: '529', comes: 'again', reply: status(529, { errorType: 'overloaded_error' }) },
  { name: 'a connection closed before the head', comes: 'again', reply: () => ({ cut: 'before' }) },
  {
    name: 'an error in a body of status 200',
    comes: 'again',
    reply: () => ({ body: '{"error":{"message":"upstream","code":502}}' }),
  },
  { name: 'a connection closed', comes: 'again', places: PLACES, reply: () => ({ cut: 'within' }) },
  { name: 'a body that ends too soon', comes: 'again', places: PLACES, reply: () => ({ ended: true }) },
  { name: 'nothing more for two minutes', comes: 'again', places: PLACES, reply: (stalled) => ({ stalled }) },
  { name: 'overloaded', comes: 'again', places: PLACES, reply: within('overloaded_error', 'Overloaded') },
  {
    name: 'a server error',
    comes: 'again',
    places: PLACES,
    reply: within('api_error', 'Internal server error'),
  },
  { name: 'a limit of rate', comes: 'again', places: PLACES, reply: within('rate_limit_error', 'Too many') },
  { name: 'a time-out', comes: 'again', places: PLACES, reply: within('timeout_error', 'Timed out') },
  {
    name: 'a request refused',
    comes: 'final',
    places: PLACES,
    reply: within('invalid_request_error', 'it is refused'),
    says: 'it is refused',
  },
  {
    name: 'a credential refused',
    comes: 'final',
    places: PLACES,
    reply: within('authentication_error', 'no such key'),
    says: 'no such key',
  },
  { name: '400', comes: 'final', reply: status(400), says: 'answer 400' },
  { name: '401', comes: 'final', reply: status(401), says: 'answer 401' },
  { name: '402', comes: 'final', reply: status(402), says: 'answer 402' },
  { name: '403', comes: 'final', reply: status(403), says: 'answer 403' },
  { name: '404', comes: 'final', reply: status(404), says: 'answer 404' },
  { name: '422', comes: 'final', reply: status(422), says: 'answer 422' },
  {
    name: 'a quota that is used up',
    comes: 'final',
    reply: status(429, { errorType: 'insufficient_quota' }),
    says: 'answer 429',
  },
  {
    name: 'a prompt that is too long, with nothing to shorten',
    comes: 'final',
    reply: status(400, { error: 'prompt is too long: 213462 tokens > 200000 maximum' }),
    says: 'shorten the prompt, give it fewer tools and skills, or choose a model that takes more',
  },
  {
    name: 'a page instead of a reply',
    comes: 'final',
    reply: () => ({ body: '<html></html>' }),
    says: 'JSON',
  },
  { name: 'a refusal', comes: 'refusal', reply: () => ({ text: 'I will not', stop: 'refusal' }) },
  {
    name: 'a refusal after a call began',
    comes: 'refusal',
    reply: () => ({ calls: [{ name: 'read', arguments: {} }], stop: 'refusal' }),
  },
  {
    name: 'a reply cut in its text',
    comes: 'length',
    reply: () => ({ text: 'The first half', stop: 'length' }),
  },
  {
    name: 'a reply cut in its tool call',
    comes: 'length',
    reply: () => ({ calls: [{ name: 'conclude', arguments: '{"outcome":"finding","summ' }], stop: 'length' }),
  },
]
