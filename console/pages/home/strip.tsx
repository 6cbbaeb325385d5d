/** Events by level over the last hours, with firings and changes on the same axis; a table for screen readers. */
import { SegmentedControl, VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import type { Home } from '../../../schemas/types.ts'
import { middle } from '../../lib/middle.ts'
import { count, moment, zoneName } from '../../lib/time.ts'
import { Brush, type Span } from '../../parts/brush.tsx'

type StripOf = Home['strip']

const HEIGHT = 84
/** Room for firings and changes above the bars. */
const ABOVE = 18
const HOURS = [1, 6, 24]
/** Texts of changes that stand beside their line; more would lie over each other. */
const NAMED = 1
/** Firings of one bar that are named one by one. */
const SAID = 3

interface Props {
  strip: StripOf
  onHours: (hours: number) => void
  /** A span of it was brushed. */
  onSpan: (span: Span) => void
}

export function Strip({ strip, onHours, onSpan }: Props) {
  const { ref, width } = useElementSize()
  const { buckets, changes } = strip
  const [from, to] = [Date.parse(strip.from), Date.parse(strip.to)]
  const zone = zoneName(new Date(to))
  return (
    <section className="card" aria-labelledby="home-strip" style={{ paddingBottom: 8 }}>
      <div className="card-head">
        <h2 id="home-strip">Events and firings</h2>
        <Legend />
        {changes[0] && (
          <span style={{ fontSize: 12.5, color: 'var(--text-2)' }}>
            ┊ {changes.length === 1 ? changes[0].text : `${count(changes.length)} changes`}
          </span>
        )}
        <SegmentedControl
          className="push"
          size="xs"
          aria-label="Hours"
          value={String(strip.hours)}
          onChange={(value) => onHours(Number(value))}
          data={HOURS.map((hours) => ({ value: String(hours), label: `${hours} h` }))}
        />
      </div>
      <div ref={ref} style={{ margin: '0 14px' }}>
        {width > 0 && <Bars strip={strip} width={width} span={[from, to]} />}
        {buckets.length > 0 && (
          <Brush
            label="Events and firings over time. Opens Explore"
            style={width > 0 ? { marginTop: -HEIGHT, height: HEIGHT } : { height: HEIGHT }}
            from={from}
            stepMs={(to - from) / buckets.length}
            steps={buckets.length}
            sayStep={(i) => stepWords(strip, i)}
            onPick={onSpan}
          />
        )}
        <div className="strip-axis">
          {[0, 1 / 3, 2 / 3, 1].map((part) => (
            <span key={part}>
              {moment(from + (to - from) * part, to)}
              {part === 1 ? ` ${zone}` : ''}
            </span>
          ))}
        </div>
      </div>
      <VisuallyHidden>
        <table>
          <caption>Events of the last {strip.hours} hours</caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">Error</th>
              <th scope="col">Warn</th>
              <th scope="col">Other</th>
            </tr>
          </thead>
          <tbody>
            {buckets
              .filter(({ error, warn, info }) => error + warn + info > 0)
              .map(({ at, error, warn, info }) => (
                <tr key={at}>
                  <th scope="row">{moment(Date.parse(at), to)}</th>
                  <td>{error}</td>
                  <td>{warn}</td>
                  <td>{info}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </section>
  )
}

/** What a bar counts, with what fired and was changed while it lasted. */
function stepWords({ buckets, firings, changes, to }: StripOf, i: number): string {
  const { at, error, warn, info } = buckets[i]!
  const [start, end] = [Date.parse(at), Date.parse(buckets[i + 1]?.at ?? to)]
  const isIn = (one: { at: string }): boolean => Date.parse(one.at) >= start && Date.parse(one.at) < end
  const fired = firings.filter(isIn)
  return [
    `${moment(start, Date.parse(to))}: ${error} error, ${warn} warn, ${info} other`,
    ...(fired.length > SAID
      ? [`${count(fired.length)} firings`]
      : fired.map(({ trigger, key }) => `${trigger} fired${key ? ` for ${key}` : ''}`)),
    ...changes.filter(isIn).map(({ text }) => text),
  ].join('; ')
}

function Legend() {
  return (
    <span style={{ display: 'flex', flexWrap: 'wrap', gap: 10, fontSize: 12.5, color: 'var(--text-2)' }}>
      {(['error', 'warn', 'other'] as const).map((level) => (
        <span key={level}>
          <span className={`swatch level-${level}`} aria-hidden /> {level}
        </span>
      ))}
      <span>
        <svg width={9} height={9} aria-hidden className="severity" data-role="critical" viewBox="0 0 10 10">
          <path d="M5 0 10 5 5 10 0 5Z" />
        </svg>{' '}
        firing
      </span>
    </span>
  )
}

/** Between marks, px. */
const MARK_EVERY = 4

function Bars({ strip, width, span: [from, to] }: { strip: StripOf; width: number; span: [number, number] }) {
  const { buckets, firings, changes } = strip
  const top = Math.max(1, ...buckets.map(({ error, warn, info }) => error + warn + info))
  const step = width / Math.max(1, buckets.length)
  const xOf = (at: string): number => ((Date.parse(at) - from) / (to - from)) * width
  const tall = (n: number): number => (n / top) * (HEIGHT - ABOVE)
  return (
    // The same is said by the brush over it, by the table and by the list of incidents, which are reached by keys.
    <svg className="strip" width={width} height={HEIGHT} aria-hidden>
      {buckets.map(({ at, error, warn, info }, i) => {
        const x = i * step + 0.5
        const wide = Math.max(1, step - 1)
        const [e, w, o] = [tall(error), tall(warn), tall(info)]
        return (
          <g key={at}>
            <title>{`${moment(Date.parse(at), to)}: ${error} error, ${warn} warn, ${info} other`}</title>
            <rect className="level-other" x={x} width={wide} y={HEIGHT - o} height={o} />
            <rect className="level-warn" x={x} width={wide} y={HEIGHT - o - w} height={w} />
            <rect className="level-error" x={x} width={wide} y={HEIGHT - o - w - e} height={e} />
          </g>
        )
      })}
      {changes.map(({ at, event_id, text }) => (
        <g key={event_id}>
          <line className="mark-line" x1={xOf(at)} x2={xOf(at)} y1={2} y2={HEIGHT} />
          <title>{text}</title>
        </g>
      ))}
      {changes.length > NAMED &&
        changes
          .slice(0, NAMED)
          .map((one) => (
            <ChangeName
              key={one.event_id}
              text={one.text}
              x={xOf(one.at)}
              width={width}
              taken={firings.map(({ at }) => xOf(at))}
            />
          ))}
      {seen(firings, ({ at }) => xOf(at)).map(({ at, dispatch_id, severity, trigger, key }) => (
        <g
          key={dispatch_id}
          transform={`translate(${xOf(at) - 5} 4)`}
          className="severity"
          data-role={severity ?? 'info'}
        >
          <title>{`${trigger} fired${key ? ` for ${key}` : ''}`}</title>
          {severity === 'critical' ? (
            <path d="M5 0 10 5 5 10 0 5Z" />
          ) : severity === 'warning' ? (
            <path d="M5 0 10 10H0Z" />
          ) : (
            <circle cx={5} cy={5} r={3.5} strokeWidth={1.5} />
          )}
        </g>
      ))}
    </svg>
  )
}

/** Toward the wider side and no longer than it, some 6 px a letter; over the lines of other changes, which it would share a place with. */
function ChangeName({
  text,
  x,
  width,
  taken,
}: {
  text: string
  x: number
  width: number
  /** Where marks of firings stand, px. */
  taken: readonly number[]
}) {
  const isLeft = x >= width / 2
  const shown = middle(text, Math.min(30, Math.floor(Math.max(x, width - x) / 6) - 3))
  const end = x + (isLeft ? -1 : 1) * (12 + 6.2 * shown.length)
  // The lines say it, too, to whoever points at them; a mark over the name would be read as neither.
  if (taken.some((at) => at > Math.min(x, end) - 6 && at < Math.max(x, end) + 6)) return null
  return (
    <text
      className="change-name"
      x={x + (isLeft ? -8 : 8)}
      y={12}
      fontSize={11}
      textAnchor={isLeft ? 'end' : 'start'}
    >
      {shown}
    </text>
  )
}

/** Of marks that would cover each other, one for each severity: thousands of firings are as many lines of a picture. */
function seen(firings: StripOf['firings'], xOf: (one: StripOf['firings'][number]) => number) {
  const places = new Map(firings.map((one) => [`${one.severity} ${Math.round(xOf(one) / MARK_EVERY)}`, one]))
  return [...places.values()]
}
