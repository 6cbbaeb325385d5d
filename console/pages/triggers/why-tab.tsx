/** Why events fired a trigger, or did not: what was recorded lately, and any event one asks about. */

import { Chip, Group, Paper, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import type { Evaluation } from '../../../schemas/types.ts'
import { reasonWords } from '../../lib/backtest.ts'
import { count } from '../../lib/time.ts'
import { REASONS, reasonCounts } from '../../lib/why.ts'
import { withWord } from '../../lib/work-filters.ts'
import { Older } from '../../parts/older.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { When } from '../../parts/when.tsx'
import { WhyMark, WhyText } from '../../parts/why-records.tsx'
import { WideTable } from '../../parts/wide-table.tsx'
import { wkeys, work } from '../../trigger-client.ts'
import { WhyNot } from './why-not.tsx'

/** How many of the newest records are counted. */
const COUNTED = 200

export function WhyTab({ trigger }: { trigger: string }) {
  const [address, setAddress] = useSearchParams()
  const asked = address.get('reason') ?? ''
  const reason = REASONS.find((known) => known === asked) ?? ''
  const set = (name: string, value: string) =>
    setAddress((now) => withWord(now, name, value), { replace: true })
  return (
    <Stack maw={1100}>
      <WhyNot trigger={trigger} event={address.get('event') ?? ''} onAsk={(event) => set('event', event)} />
      <Title order={2}>Lately</Title>
      <Reasons trigger={trigger} value={reason} onChange={(value) => set('reason', value)} />
      <Records trigger={trigger} reason={reason} onEvent={(event) => set('event', event)} />
    </Stack>
  )
}

function Reasons({
  trigger,
  value,
  onChange,
}: {
  trigger: string
  value: string
  onChange: (reason: string) => void
}) {
  const { data } = useQuery({
    queryKey: [...wkeys.evaluations(trigger, ''), 'counted'],
    queryFn: () => work.evaluations(trigger, '', undefined, COUNTED),
    refetchInterval: 5_000,
  })
  const records = data?.evaluations ?? []
  const counts = reasonCounts(records)
  const options = [
    { value: '', label: `all ${count(records.length)}` },
    ...counts.map(([reason, n]) => ({
      value: reason as string,
      label: `${reasonWords(reason)} ${count(n)}`,
    })),
    // What the address asks for has a chip, even where none of the newest are of it.
    ...(value && !counts.some(([reason]) => reason === value)
      ? [{ value, label: `${reasonWords(value)} 0` }]
      : []),
  ]
  if (data && records.length === 0 && !value) return null
  return (
    <div>
      {data ? (
        <Chip.Group value={value} onChange={(next) => onChange(next as string)}>
          <Group gap={6} className="reasons" role="radiogroup" aria-label="Only this reason">
            {options.map((option) => (
              <Chip key={option.value} value={option.value} size="xs" variant="outline">
                {option.label}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      ) : (
        // As high as the chips that come, so that what is below stays where it is.
        <Skeleton h={23} maw={360} role="status" aria-label="Loading" />
      )}
      <Text size="xs" c="dimmed" mt={6}>
        Of the newest {data ? count(records.length) : '…'} records. Firings are always recorded; other reasons
        are sampled; ask about any event above.
      </Text>
    </div>
  )
}

function Records({
  trigger,
  reason,
  onEvent,
}: {
  trigger: string
  reason: string
  onEvent: (event: string) => void
}) {
  const list = usePages(wkeys.evaluations(trigger, reason), (before) =>
    work.evaluations(trigger, reason, before),
  )
  if (list.error) return <Failed what="evaluations" error={list.error} onRetry={list.reload} />
  if (!list.pages) return <LoadingRows />
  const records = list.pages.flatMap((page) => page.evaluations)
  if (records.length === 0)
    return (
      <Empty title={reason ? 'Nothing is recorded for this reason' : 'Nothing is recorded yet'}>
        <Text c="dimmed" maw={540}>
          Each event that a trigger looks at is recorded with what came of it. Send one to a source it
          watches.
        </Text>
      </Empty>
    )
  return (
    <Stack gap="sm">
      <Paper withBorder radius="md">
        <WideTable minWidth={680}>
          <Table verticalSpacing="xs" aria-label="Records">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>When</Table.Th>
                <Table.Th>Event</Table.Th>
                <Table.Th>Entity</Table.Th>
                <Table.Th>Reason</Table.Th>
                <Table.Th>In words</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {records.map((record, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: of one event there may be several records.
                <Row key={`${record.event_id} ${record.at} ${i}`} record={record} onEvent={onEvent} />
              ))}
            </Table.Tbody>
          </Table>
        </WideTable>
      </Paper>
      <Older list={list} label="Show older records" />
    </Stack>
  )
}

function Row({ record, onEvent }: { record: Evaluation; onEvent: (event: string) => void }) {
  const { at, event_id, key, reason } = record
  return (
    <Table.Tr>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <When at={at} />
      </Table.Td>
      <Table.Td className="mono">
        {event_id ? (
          <button type="button" className="text-button" onClick={() => onEvent(event_id)}>
            {event_id}
          </button>
        ) : (
          '–'
        )}
      </Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{key ?? '–'}</Table.Td>
      <Table.Td>
        <WhyMark reason={reason} />
      </Table.Td>
      <Table.Td>
        <WhyText record={record} />
      </Table.Td>
    </Table.Tr>
  )
}
