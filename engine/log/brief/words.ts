/** Words that carry meaning in events of any system, and a line without what varies in it. */

/** Types that are levels say nothing by being rare. */
export const LEVEL =
  /^(v|d|i|w|e|f|verbose|trace|debug\d*|info|information|notice|log|warn|warning|error|err|severe|fatal|crit|critical|alert|emerg|panic|failure|failed|unavailable|normal|span|\d+)$/i
export const ERROR_LEVEL = /^(e|f|error|err|severe|fatal|crit|critical|panic|emerg|alert|failure)$/i
export const WARN_LEVEL = /^w(arn(ing)?)?$/i
export const TROUBLE =
  /error|fail|crit|fatal|oom|kill|backoff|back-off|unhealthy|evict|exception|denied|refused|timed? ?out|unreachable|not found|unavailable|exceed|insufficient|forbidden|expired|unschedulable|notready|lost|throttl/i
/** What a platform writes of every pod it starts. */
export const ROUTINE = /^\S+ Normal |\bSuccessful|\b(Started|Created|Pulled|Pulling|Scheduled)\b/
/** Kinds that are changes although they are common. */
export const CHANGE_KIND =
  /deploy|release|migrat|flag|config|terraform|campaign|maintenance|failover|rollback|rotat|cert|toggle|upgrade|drain|cordon|scal(ed|ing)|merged|gitops|changed/i
/** Kinds that those words name, and that change nothing by themselves. */
export const NO_CHANGE_KIND = /workflow_run|push$/

const EVERYWHERE = new Set(
  'from with this that have after before into main prod refs heads info error warn debug status firing above below their been when were will than then only over under none true false null undefined service server request response page'.split(
    ' ',
  ),
)

/** Words of four letters and more that are not in every line. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length >= 4 && !EVERYWHERE.has(word) && !/^\d+$/.test(word))
}

export const ANY = '<*>'
const WORDS_MAX = 60
/** Letters of a text that say how it is worded; of stored texts as many bytes. */
export const LOOKED_AT = 400
const CACHE_MAX = 100_000

const ESC = String.fromCharCode(27)
const COLOURS = new RegExp(`${ESC}\\[[\\d;]*m`, 'g')
/** White space that is more than a space between two words. */
const SPACES = /[^\S ]| {2}/
const QUOTED = /"[^"]{0,400}"/g
const HEX_ID = /\b[0-9a-f]{8}(?:-?[0-9a-f]{4,})+\b/gi
/** Numbers right after `name#` or `name:` are places in code and ports: they tell lines apart. */
const KEPT_OR_NUMBER =
  /([A-Za-z_]\w*[#:]\d{1,5}\b(?![:.]\d))|\b(?=\w*\d)(?=\w*[A-Za-z])\w{6,}\b|-?\d+(?:[.,]\d+)*/g

/** Words of a line, those that vary between lines of one wording as `<*>`; remembers words it saw. */
export class Masker {
  private readonly seen = new Map<string, string>()

  words(text: string): string[] {
    let plain = text.length > LOOKED_AT ? text.slice(0, LOOKED_AT) : text
    if (plain.includes(ESC)) plain = plain.replace(COLOURS, '')
    if (plain.includes('"')) plain = plain.replace(QUOTED, maskedQuote)
    // A split at one letter takes a quarter of the time of one at a pattern, and most lines have single spaces.
    const words = SPACES.test(plain) ? plain.split(/\s+/) : plain.split(' ')
    if (words.length > WORDS_MAX) words.length = WORDS_MAX
    for (let i = 0; i < words.length; i++) words[i] = this.word(words[i]!)
    return words
  }

  private word(word: string): string {
    if (!mayVary(word)) return word
    const known = this.seen.get(word)
    if (known !== undefined) return known
    if (this.seen.size >= CACHE_MAX) this.seen.clear()
    const at = word.indexOf('@')
    const masked =
      at > 0 && at < word.length - 1
        ? ANY
        : word.replace(HEX_ID, ANY).replace(KEPT_OR_NUMBER, (_, place) => place ?? ANY)
    this.seen.set(word, masked)
    return masked
  }
}

/** Whether a word has a digit or an @; by hand, since there are a million words. */
function mayVary(word: string): boolean {
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i)
    if ((code >= 48 && code <= 57) || code === 64) return true
  }
  return false
}

function maskedQuote(quoted: string): string {
  return /[A-Za-z]/.test(quoted) && quoted.length < 40 && !/\d/.test(quoted) ? quoted : `"${ANY}"`
}

/*
 * How many tokens a text is at most likely to be, without a tokeniser at run time. Bytes alone tell it badly:
 * log lines have from 2.2 to 3.3 bytes to a token. Counted by the pieces that tokenisers begin with (words,
 * digits by three, signs), briefs and timelines of 39 incidents, 430,000 tokens of o200k_base in parts of 800,
 * are counted 1.09 times on average, 0.99 to 1.21 (measured 2026-11-23; by 2.4 bytes: 0.92 to 1.37).
 */

/** Letters of a word that are one token; each further so many are another. */
const WORD = 4
const DIGITS = 3
const SIGNS = 2
/** Of what is not ASCII. */
const BYTES = 1.5

/** What a letter of ASCII begins: pieces are words, numbers, white space, signs, and what is none of these. */
const [OTHER, LOWER, UPPER, NUMBER, SPACE, SIGN] = [0, 1, 2, 3, 4, 5] as const
const BEGINS = new Uint8Array(128).map((_, code) => {
  const letter = String.fromCharCode(code)
  if (/[a-z]/.test(letter)) return LOWER
  if (/[A-Z]/.test(letter)) return UPPER
  if (/\d/.test(letter)) return NUMBER
  if (/\s/.test(letter)) return SPACE
  return code > 32 && code < 127 ? SIGN : OTHER
})
const FOREIGN_SPACE = /\s/

const beginsWith = (text: string, i: number): number => {
  const code = text.charCodeAt(i)
  return code < 128 ? BEGINS[code]! : FOREIGN_SPACE.test(text[i]!) ? SPACE : OTHER
}

/** By hand, letter by letter: a brief counts hundreds of lines, and a pattern makes an object of each piece. */
export function cautiousTokens(text: string): number {
  let tokens = 0
  for (let i = 0; i < text.length; ) {
    const from = i
    const begins = beginsWith(text, i++)
    let goesOn = begins
    // A word begins with a capital, or is all capitals, of which the last may begin the next.
    if (begins === UPPER && i < text.length && beginsWith(text, i) === LOWER) goesOn = LOWER
    while (i < text.length && beginsWith(text, i) === goesOn) i++
    if (goesOn === UPPER && i - from > 1 && i < text.length && beginsWith(text, i) === LOWER) i--
    tokens += tokensOf(text, from, i, begins)
  }
  return Math.ceil(tokens)
}

function tokensOf(text: string, from: number, to: number, begins: number): number {
  const length = to - from
  if (begins === LOWER || begins === UPPER) return 1 + Math.max(0, length - WORD) / WORD
  if (text.charCodeAt(from) > 127) return Buffer.byteLength(text.slice(from, to)) / BYTES
  if (begins === NUMBER) return Math.ceil(length / DIGITS)
  // One space belongs to the word after it.
  if (begins === SPACE) return length === 1 && text[from] === ' ' ? 0 : Math.ceil(length / WORD)
  return Math.ceil(length / SIGNS)
}
