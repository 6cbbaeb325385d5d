/**
 * Lines by wording. Every line is masked once and joins a class of equal lines; a class joins the template
 * whose words agree with its own in enough of their weight, as in Drain (He et al. 2017), where rare words
 * weigh more: half-equal prefixes such as TraceID and SpanID must not merge lines of nine places in code.
 */
import { Skeletons } from './skeletons.ts'
import {
  type ContextRow,
  type Kind,
  type LineClass,
  mapAt,
  type Template,
  type Timed,
  valueAt,
  type Wording,
  type Wordings,
} from './types.ts'

import { ANY, LOOKED_AT, Masker } from './words.ts'

/** Share of the weight in which a line agrees with the template it joins. */
const AGREES = 0.55
const SURE = 0.97
const WEIGHT_MAX = 2
/** Templates of one leaf that a line is compared with. */
const COMPARED = 200
const TRACE = /trace[_\s-]?id/i

interface Leaf {
  templates: Template[]
  exact: Map<string, Template>
}

interface SourceWords {
  lines: number
  /** Lines that have a word. */
  having: Map<string, number>
}

export class Templates {
  private readonly masker = new Masker()
  private readonly classes = new Map<Kind, Map<string, LineClass>>()
  private readonly byWording = new Map<Kind, Map<Wording, LineClass>>()
  private lastKind: Kind | null = null
  private ofLastKind = new Map<Wording, LineClass>()
  private readonly byText = new Map<string, Wording>()
  private readonly sources = new Map<string, SourceWords>()
  private readonly leaves = new Map<string, Leaf>()
  private count = 0

  /** @param lines without samples, in order of time; each gets its class. @param byBytes what is known of wordings */
  constructor(
    lines: readonly Timed[],
    private readonly byBytes: Wordings = new Skeletons<Wording>(),
  ) {
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i]!
      line.cls = this.classOf(line)
      line.cls.count++
    }
    for (const classes of this.classes.values())
      for (const { source, wording, count } of classes.values()) this.countWords(source, wording.words, count)
  }

  /** @param line one of those given. */
  of({ row, cls }: Timed): Template {
    cls!.template ??= this.find(row.source, row.type, cls!.wording)
    return cls!.template
  }

  // Of what is known nothing is made, and neither is a function: there are 100,000 lines.
  private classOf({ row, kind }: Timed): LineClass {
    row.wording ??= this.wordingOf(row)
    // Neighbours are mostly of one kind.
    if (kind !== this.lastKind) {
      this.lastKind = kind
      this.ofLastKind = mapAt(this.byWording, kind)
    }
    return this.ofLastKind.get(row.wording) ?? this.classOfNew(row, kind, row.wording)
  }

  private classOfNew({ source }: ContextRow, kind: Kind, wording: Wording): LineClass {
    // Wordings of different rows may be the same.
    const cls = valueAt(mapAt(this.classes, kind), wording.said, (): LineClass => {
      return { source, wording, count: 0, template: null }
    })
    this.ofLastKind.set(wording, cls)
    return cls
  }

  private wordingOf(row: ContextRow): Wording {
    const { page, from = 0, to = 0 } = row
    return page ? this.byBytes.get(page, from, to, this.maskedRow, row) : this.wordingOfText(row)
  }

  private wordingOfText({ text }: ContextRow): Wording {
    return valueAt(this.byText, text, () => this.masked(text))
  }

  private readonly maskedRow = ({ text }: ContextRow): Wording => this.masked(text)

  private masked(text: string): Wording {
    const words = this.masker.words(text)
    return { words, said: words.join(' '), mayTrace: TRACE.test(text.slice(0, LOOKED_AT)) }
  }

  private countWords(source: string, words: readonly string[], lines: number): void {
    const all = valueAt(this.sources, source, () => ({ lines: 0, having: new Map() }))
    all.lines += lines
    for (const word of new Set(words)) all.having.set(word, (all.having.get(word) ?? 0) + lines)
  }

  private weight(source: string, word: string): number {
    if (word.includes(ANY) && word.length < 9) return 0
    const { lines, having } = this.sources.get(source)!
    return Math.min(WEIGHT_MAX, Math.log((1 + lines) / (having.get(word) ?? 1)) + 0.02)
  }

  private find(source: string, type: string, { words, said: text }: Wording): Template {
    const lead = words[0]!.includes(ANY) ? ANY : words[0]!.split('/')[0]!
    const at = `${source}\0${type}\0${words.length}\0${lead}`
    const leaf = valueAt(this.leaves, at, (): Leaf => ({ templates: [], exact: new Map() }))
    const known = leaf.exact.get(text)
    if (known) return known
    const template = this.nearest(source, leaf, words) ?? this.open(leaf, words)
    leaf.exact.set(text, template)
    return template
  }

  private open(leaf: Leaf, words: readonly string[]): Template {
    const template = { n: this.count++, words: [...words], byEntity: new Map() }
    leaf.templates.push(template)
    return template
  }

  /** The template that agrees most, with the words that differ taken out of it; null: none does. */
  private nearest(source: string, leaf: Leaf, words: readonly string[]): Template | null {
    const weights = words.map((word) => this.weight(source, word))
    const sum = weights.reduce((a, b) => a + b, 0) || 1
    let best: Template | null = null
    let most = 0
    for (let k = Math.max(0, leaf.templates.length - COMPARED); k < leaf.templates.length; k++) {
      const template = leaf.templates[k]!
      let agreed = 0
      for (let i = 0; i < words.length; i++)
        if (template.words[i] === words[i] || template.words[i] === ANY) agreed += weights[i]!
      if (agreed / sum <= most) continue
      most = agreed / sum
      best = template
      if (most > SURE) break
    }
    if (!best || most < AGREES) return null
    for (let i = 0; i < words.length; i++) if (best.words[i] !== words[i]) best.words[i] = ANY
    return best
  }
}
