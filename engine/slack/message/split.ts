/** Long texts in parts that a message holds, cut between lines and never within a code block. */

/** Slack takes 3,000 characters in a section. */
export const SECTION_MAX = 2_800
const FENCE = '```'

/** @param text mrkdwn. @returns parts of at most `max` characters; a code block that is cut goes on in a block. */
export function sections(text: string, max: number = SECTION_MAX): string[] {
  const parts: string[] = []
  let part: string[] = []
  let length = 0
  let isCode = false
  const close = () => {
    if (part.length) parts.push([...part, ...(isCode ? [FENCE] : [])].join('\n'))
    part = isCode ? [FENCE] : []
    length = isCode ? FENCE.length + 1 : 0
  }
  for (const line of text.split('\n').flatMap((one) => pieces(one, max - 2 * (FENCE.length + 1)))) {
    // What closes the block has to fit as well.
    if (length + line.length + 1 + FENCE.length > max) close()
    part.push(line)
    length += line.length + 1
    if (line === FENCE) isCode = !isCode
  }
  isCode = false
  close()
  return parts.filter((one) => one.trim() !== '')
}

/** A line longer than a part, cut at blanks where there are any, never within an escaped character. */
function pieces(line: string, max: number): string[] {
  const out: string[] = []
  let rest = line
  while (rest.length > max) {
    const blank = rest.lastIndexOf(' ', max)
    let at = blank > max / 2 ? blank : max
    const amp = rest.lastIndexOf('&', at)
    if (amp > at - 5 && amp > 0 && /^&(amp|lt|gt);/.test(rest.slice(amp))) at = amp
    out.push(rest.slice(0, at))
    rest = rest.slice(at).trimStart()
  }
  return [...out, rest]
}

const EXCERPT_MAX = 600

/**
 * What stands for a long note in the channel: the paragraph that begins with Summary, else the first with
 * words, cut at the end of a sentence.
 * @param markdown as written.
 */
export function excerptOf(markdown: string, max: number = EXCERPT_MAX): string {
  const paragraphs = markdown
    .replace(/\r\n?/g, '\n')
    .split(/\n\s*\n/)
    .map((one) => one.trim())
  const isWords = (one: string) => /[\p{L}\p{N}]/u.test(one) && !/^(#{1,6}\s[^\n]*$|```|~~~|\|)/.test(one)
  const found =
    paragraphs.find((one) => /^[#*_\s]*summary\b/i.test(one) && one.replace(/[^\p{L}]/gu, '').length > 10) ??
    paragraphs.find(isWords) ??
    markdown.trim()
  if (found.length <= max) return found
  const cut = found.slice(0, max)
  const end = Math.max(...['. ', '! ', '? ', '.\n'].map((mark) => cut.lastIndexOf(mark)))
  return end > max / 3 ? cut.slice(0, end + 1) : `${cut.slice(0, cut.lastIndexOf(' ') + 1 || max).trimEnd()}…`
}
