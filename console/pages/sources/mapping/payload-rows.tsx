/** Payloads as the timeline rows they make. */
import { Paper, Text } from '@mantine/core'
import type { ProposedRow } from '../../../../schemas/types.ts'
import { clock } from '../../../lib/time.ts'
import { useNow } from '../../../parts/use-now.ts'

interface Props {
  label: string
  rows: readonly ProposedRow[]
  /** Drawn back: how it is, beside how it would be. */
  isBefore?: boolean
}

export function PayloadRows({ label, rows, isBefore = false }: Props) {
  const now = useNow(60_000)
  if (rows.length === 0) return null
  return (
    <Paper withBorder radius="md" className="payload-rows" data-before={isBefore}>
      <ul aria-label={label}>
        {rows.map((row, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows may repeat, and none moves
          <li key={i} className="payload-row">
            <Text size="sm" component="span" className="mono">
              {row.ts === null ? (
                'on arrival'
              ) : (
                <time dateTime={row.ts} title={row.ts}>
                  {clock(row.ts, now)}
                </time>
              )}
            </Text>
            <Text size="sm" component="span" c="dimmed" className="ellipsis">
              {row.event_type}
            </Text>
            <Text size="sm" component="span" className="ellipsis" title={row.text}>
              {row.text}
            </Text>
            <Text size="sm" component="span" className="ellipsis payload-entity">
              {row.entity ? `${row.entity.label}=${row.entity.value}` : 'no entity'}
            </Text>
          </li>
        ))}
      </ul>
    </Paper>
  )
}
