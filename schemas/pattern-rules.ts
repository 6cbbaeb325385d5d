/**
 * Each pattern of the schemas in words: who typed a wrong value is told the rule, not a regular expression. They stand
 * here and not beside the patterns, because some 60 patterns stand in more than 500 places and shall read alike in all.
 * `test/schemas/pattern-rules.test.ts` holds that none is missing.
 */

/** A duration above 0 (SPEC.md, Sources and labels 1); each way of writing it is read in one pass. */
const DURATION = '^(0*[1-9][0-9]*(\\.[0-9]+)?|[0-9]+\\.0*[1-9][0-9]*)(s|m|h|d)$'
const DURATION_RULE = 'must be a number and one of s, m, h, d, such as 15m'
const ADDRESS = 'must be an address that begins with http:// or https://'
const HEADER = 'must be the name of a header: letters, digits and dashes, 64 at most'
const VERDICT =
  'must be one lowercase word: a letter first, then letters, digits, dashes or underscores, 40 characters at most'
const PROVIDER = 'must be the id of a provider: lowercase letters, digits and dashes, 40 at most'
const LABEL = 'must be the name of a label: 1 to 64 letters, digits or underscores'
const ONE_LINE = 'must be one line'
const PLAIN = 'must have plain ASCII characters only, without accents and line breaks'
const CHANNEL =
  'must be the id of a channel, such as C0123ABCD: in Slack, the name of the channel at its top, then About, has it'
const COMMIT = 'must be the hash of a commit'
const CONTROL = 'must not contain control characters'
/** Also of one that is too short to have five fields. */
export const CRON_RULE =
  'must be five fields: minute, hour, day of month, month, day of week, such as 0 9 * * 1-5'

const RULES: Readonly<Record<string, string>> = {
  [DURATION]: DURATION_RULE,
  '^[0-9]+(\\.[0-9]+)?(s|m|h|d)$': DURATION_RULE,
  '^[1-9][0-9]{0,4}[smh]$': 'must be a whole number and one of s, m, h, such as 5m',
  '^(\\+?[0-9]+(\\.[0-9]+)?(s|m|h|d)|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2}))$':
    'must be a time with its zone, such as 2026-11-20T14:00:00Z, or so long after the start, such as +90s',
  '^(>=|<=|==|>|<) ?-?[0-9]+(\\.[0-9]+)?(/(s|m|h))?$':
    'must be a comparison (>, >=, <, <= or ==) and a number, such as "> 5"; a rate may have a unit, such as "> 5/m"',
  '^[\\s\\S]{9,}$': CRON_RULE,
  '^evt_[0-9]{1,15}$': 'must be an event id, such as evt_42',
  '^inc_[1-9][0-9]{0,14}$': 'must be the id of an incident, such as inc_12',
  '^(findings|agent:.+)?$': 'must be findings or agent:<name>',
  '^(findings|agent:.{1,100})$': 'must be findings or agent:<name>',
  '^[0-9]{1,16}\\..{1,80}$': 'must be next_before of an earlier answer',
  '\\S': 'must not be blank',
  '^[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*$':
    'must be the name of a parameter, or of a field of it, such as repos.repo',
  '\\(\\(values\\.': 'must refer to a value of the environment, as ((values.name))',
  '^[^\\u0000-\\u001f\\u007f]+$': CONTROL,
  '^[^\\u0000-\\u001f\\u007f]*$': CONTROL,
  '^[^\\u0000\\n]+$': ONE_LINE,
  '^[^\\r\\n]*$': ONE_LINE,
  '^[^\\r\\n]*\\S[^\\r\\n]*$': 'must be one line, and not blank',
  '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$':
    'must be 1 to 64 letters, digits, dots, dashes or underscores, beginning with a letter or digit',
  '^[A-Za-z0-9_]{1,64}$': 'must be 1 to 64 letters, digits or underscores',
  '^[A-Za-z0-9_]{0,64}$': LABEL,
  '^[A-Za-z_][A-Za-z0-9_]{0,63}$': `${LABEL}, a digit not first`,
  '^[A-Za-z][A-Za-z0-9_-]{0,39}$': VERDICT.replace('lowercase ', ''),
  '^[a-z][a-z0-9_-]{0,39}$': VERDICT,
  '^([a-z0-9][a-z0-9-]{0,39})?$': PROVIDER,
  '^[a-z0-9][a-z0-9-]{0,39}$': PROVIDER,
  '^([A-Z][A-Z0-9]{4,})?$': CHANNEL,
  '^([A-Z][A-Z0-9]{4,30})?$': CHANNEL,
  '^[UW][A-Z0-9]{2,30}$': 'must be the id of a user in Slack, such as U012ABCDEF',
  '^[TE][A-Z0-9]{1,30}$': 'must be the id of a workspace in Slack, such as T012ABCDEF',
  '^(https?://[^\\s]+)?$': ADDRESS,
  '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s#]+$': `${ADDRESS}, without a part after #`,
  '^https?://[^\\s#]+$': `${ADDRESS}, without a part after #`,
  '^https?://[^\\s?#]+$': `${ADDRESS}, without a query`,
  '^https://': 'must be an address that begins with https://',
  '^(https?://[^\\s]+|stdio:[A-Za-z0-9][A-Za-z0-9_.-]{0,63})$': `${ADDRESS}, or stdio: and the name of a program`,
  '^[A-Za-z0-9-]{0,64}$': HEADER,
  '^[A-Za-z0-9-]{1,64}$': HEADER,
  '^[a-z0-9-]{1,64}$': `${HEADER}, in lower case`,
  "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$": 'must be the name of a header, without spaces and colons',
  '^[0-9a-f]{64}$': 'must be a fingerprint as an earlier answer had it',
  '^[0-9a-f]{40,64}$': COMMIT,
  '^[0-9a-f]{7,64}$': `${COMMIT}, 7 characters at least`,
  '^[A-Za-z0-9][A-Za-z0-9_.-]*$':
    'must be letters, digits, dots, dashes or underscores, beginning with a letter or digit',
  '^/[^\\u0000\\n]*[^/\\u0000\\n]$': 'must be the whole path of a file, beginning with /',
  '^/[^\\u0000\\n]*$': 'must be a whole path, beginning with /',
  '^[a-z][a-z0-9_]{0,63}$': 'must be lowercase letters, digits and underscores, a letter first, 64 at most',
  '^[a-z][a-z0-9_]{0,39}$': 'must be lowercase letters, digits and underscores, a letter first, 40 at most',
  '^[a-z0-9][a-z0-9_-]{0,63}$': 'must be lowercase letters, digits, dashes and underscores, 64 at most',
  '^[A-Z][A-Z0-9_]{0,79}$': 'must be the name of a variable: capital letters, digits and underscores',
  '^(index|item(\\.[a-z][a-z0-9_]*)?)$': 'must be index, item or item.<field>',
  '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$': 'must be the name of a namespace: lowercase letters, digits and dashes',
  '^[^:]+$': 'must not be blank or contain a colon',
  "^[A-Za-z0-9!._*'()|-]+$": "must be letters, digits and any of ! . _ * ' ( ) | -",
  '^[^.\'"\\u0000-\\u001f\\u007f]{1,63}(\\.[^.\'"\\u0000-\\u001f\\u007f]{1,63})?$':
    'must be the name of a table or view, or schema.name, without quotes, control characters and other dots',
  '^[!-~]{1,256}$': `${PLAIN}, 256 at most, and no spaces`,
  '^[\\x21-\\x7e]*$': `${PLAIN}, and no spaces`,
  '^[\\x20-\\x7e]*$': PLAIN,
  '^[\\u0020-\\u007e]+$': PLAIN,
  '^[\\u0020-\\u007e]*$': PLAIN,
  '^[^\\s/]+$': 'must be one word without a slash',
  '^[^/].*$': 'must not begin with a slash',
  '^[1-9][0-9]{0,4}(m|h|d)$': 'must be a whole number and one of m, h, d, such as 15m',
  '^[1-9][0-9]{0,4}(s|m|h)$': 'must be a whole number and one of s, m, h, such as 15m',
  '^[1-9][0-9]{0,4}(s|m|h|d)$': 'must be a whole number and one of s, m, h, d, such as 15m',
  '^[A-Z][A-Z0-9]{4,}$': CHANNEL,
  '^[A-Za-z0-9][A-Za-z0-9_ .-]*$':
    'must be letters, digits, spaces, dots, dashes or underscores, beginning with a letter or digit',
  '^[A-Za-z0-9][A-Za-z0-9_./-]*$':
    'must be letters, digits, dots, dashes, underscores or slashes, beginning with a letter or digit',
  '^[A-Za-z0-9_.-]+$': 'must be letters, digits, dots, dashes or underscores',
  '^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$': 'must be owner/name, such as acme/shop',
  '^https?://\\S+$': ADDRESS,
  '^https?://\\S+[^/\\s]$': `${ADDRESS}, without a slash at its end`,
  '^[A-Za-z0-9._-]{1,64}$': 'must be 1 to 64 letters, digits, dots, dashes or underscores',
  '^[A-Za-z0-9._-]{1,50}$': 'must be 1 to 50 letters, digits, dots, dashes or underscores',
  '^[A-Za-z0-9_-]{43}$': 'must be 43 characters of base64url, as svc login makes them',
  '^[A-Za-z0-9._~-]{43,128}$': 'must be the verifier of a login, 43 to 128 characters',
}

/**
 * What a value must be, in words that follow the name of its field.
 * @param value what was given
 * @returns the pattern itself where it is not one of these schemas, such as of a template of a team's own
 */
export function patternRule(pattern: string, value: unknown): string {
  // A duration of nothing has the right form.
  if (pattern === DURATION && /^[0.]+[smhd]$/.test(String(value)))
    return DURATION_RULE.replace('a number', 'a number above 0')
  return RULES[pattern] ?? `must match ${pattern}`
}
