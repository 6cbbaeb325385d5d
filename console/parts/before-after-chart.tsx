/** Firings over time before and after a change, side by side on one scale. Screen readers get a table. */
import { Group, Text, VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import type { PlanBacktestTrigger } from '../../schemas/types.ts'
import { moment } from '../lib/time.ts'

const HEIGHT = 72

interface Props {
  buckets: PlanBacktestTrigger['buckets']
  /** Length of a bucket, such as 6h. */
  bucket: string
  label: string
}

export function BeforeAfterChart({ buckets, bucket, label }: Props) {
  const { ref, width } = useElementSize()
  const top = Math.max(1, ...buckets.flatMap(({ before, after }) => [before, after]))
  const step = width / Math.max(1, buckets.length)
  const tall = (n: number) => (n / top) * (HEIGHT - 4)
  return (
    <div ref={ref}>
      <div role="img" aria-label={label} style={{ height: HEIGHT }}>
        {width > 0 && (
          <svg aria-hidden width={width} height={HEIGHT} style={{ display: 'block' }}>
            {buckets.map(({ at, before, after }, i) => (
              <g key={at}>
                {before > 0 && (
                  <rect
                    className="bar-before"
                    x={i * step + step * 0.06}
                    y={HEIGHT - tall(before)}
                    width={Math.max(1, step * 0.42)}
                    height={tall(before)}
                  />
                )}
                {after > 0 && (
                  <rect
                    className="bar-now"
                    x={i * step + step * 0.52}
                    y={HEIGHT - tall(after)}
                    width={Math.max(1, step * 0.42)}
                    height={tall(after)}
                  />
                )}
              </g>
            ))}
            <line
              x1={0}
              x2={width}
              y1={HEIGHT - 0.5}
              y2={HEIGHT - 0.5}
              stroke="var(--mantine-color-default-border)"
            />
          </svg>
        )}
      </div>
      <Group gap="md" justify="space-between">
        <Group gap="md">
          <Legend className="bar-before" text="before" />
          <Legend className="bar-now" text="after" />
        </Group>
        <Text size="xs" c="dimmed">
          at most {top} in {bucket}
        </Text>
      </Group>
      <VisuallyHidden>
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {buckets
              .filter(({ before, after }) => before + after > 0)
              .map(({ at, before, after }) => (
                <tr key={at}>
                  <th scope="row">{moment(Date.parse(at), Date.now(), true)}</th>
                  <td>{before}</td>
                  <td>{after}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </div>
  )
}

function Legend({ className, text }: { className: string; text: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      <svg width={10} height={10} aria-hidden>
        <rect className={className} width={10} height={10} />
      </svg>
      <Text size="xs" c="dimmed">
        {text}
      </Text>
    </Group>
  )
}
