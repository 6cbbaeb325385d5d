/**
 * Markdown of findings as Slack's mrkdwn. Everything is escaped first, so that text of events can neither
 * mention anybody nor hide where a link leads: links are shown with their address.
 */

/** What Slack reads as markup of its own. */
export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const TABLE_MAX = 60
const FENCE = /^\s*(```|~~~)/

/** @returns lines of mrkdwn; code between fences is kept as it is. */
export function mrkdwn(markdown: string): string {
  const lines = markdown.replace(/\r\n?/g, '\n').split('\n')
  const out: string[] = []
  for (let i = 0; i < lines.length; i++) {
    if (FENCE.test(lines[i]!)) {
      const end = lines.findIndex((line, at) => at > i && FENCE.test(line))
      const last = end === -1 ? lines.length : end
      out.push('```', ...lines.slice(i + 1, last).map(codeLine), '```')
      i = last
    } else if (isTable(lines, i)) {
      let last = i + 1
      while (last + 1 < lines.length && lines[last + 1]!.trim().startsWith('|')) last++
      out.push(...table(lines.slice(i, last + 1)))
      i = last
    } else if (!/^\s*([-*_])(\s*\1){2,}\s*$/.test(lines[i]!)) out.push(line(lines[i]!))
  }
  return out
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** A fence within would end the block. */
const codeLine = (text: string): string => escaped(text).replaceAll('```', "'''")

function line(text: string): string {
  const heading = /^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$/.exec(text)?.[1]
  if (heading !== undefined) return heading === '' ? '' : `*${inline(heading).replaceAll('*', '')}*`
  const bullet = /^(\s*)[-*+]\s+(.*)$/.exec(text)
  return bullet ? `${bullet[1]}• ${inline(bullet[2]!)}` : inline(text)
}

/** Code spans are left alone; the rest is escaped, then bold and links are said Slack's way. */
function inline(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part, i) => (i % 2 ? escaped(part) : words(part)))
    .join('')
}

function words(text: string): string {
  return escaped(text)
    .replace(/!?\[([^\]]*)\]\((https?:\/\/[^\s()|]+)\)/g, (_all, label: string, url: string) =>
      label === '' || label === url ? url : `${label} (${url})`,
    )
    .replace(/\*\*(?=\S)(.+?)(?<=\S)\*\*/g, '*$1*')
    .replace(/__(?=\S)(.+?)(?<=\S)__/g, '*$1*')
}

const isTable = (lines: readonly string[], at: number): boolean =>
  lines[at]!.trim().startsWith('|') && /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(lines[at + 1] ?? '')

/** Aligned as code while it is narrow; else a bullet for each row. */
function table(lines: readonly string[]): string[] {
  const [head, , ...rows] = lines.map(cellsOf)
  const all = [head!, ...rows]
  const widths = head!.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const isNarrow = widths.reduce((sum, width) => sum + width + 2, 0) <= TABLE_MAX
  if (isNarrow)
    return [
      '```',
      ...all.map((row) =>
        codeLine(widths.map((width, column) => (row[column] ?? '').padEnd(width)).join('  ')).trimEnd(),
      ),
      '```',
    ]
  return rows.map(
    (row) => `• ${row.map((cell, column) => `${inline(head![column] ?? '')}: ${inline(cell)}`).join('; ')}`,
  )
}

const cellsOf = (text: string): string[] =>
  text
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim())
