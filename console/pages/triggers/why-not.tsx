/** Asks about one event by its id: what this trigger made of it, and what the others did. */
import { Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { eventIdIn } from '../../lib/why.ts'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { WhyRecords } from '../../parts/why-records.tsx'
import { wkeys, work } from '../../trigger-client.ts'

interface Props {
  trigger: string
  /** Asked about; blank: none. */
  event: string
  onAsk: (event: string) => void
}

export function WhyNot({ trigger, event, onAsk }: Props) {
  const [text, setText] = useState(event)
  useEffect(() => setText(event), [event])
  const id = eventIdIn(text)
  const isWrong = text.trim() !== '' && id === null
  return (
    <Paper withBorder radius="md" p="md" component="section" aria-label="Why not?">
      <form
        onSubmit={(submitted) => {
          submitted.preventDefault()
          if (id || text.trim() === '') onAsk(id ?? '')
        }}
      >
        <Group align="flex-start" gap="sm">
          <TextInput
            label="Why not?"
            description="Event id, for example evt_42"
            placeholder="evt_42"
            value={text}
            onChange={(changed) => setText(changed.currentTarget.value)}
            error={isWrong ? 'An event id is evt_ and a number' : undefined}
            w={320}
            inputWrapperOrder={['label', 'description', 'input', 'error']}
          />
          <Button type="submit" variant="default" mt={44} disabled={id === null}>
            Ask
          </Button>
        </Group>
      </form>
      {event && <Answer trigger={trigger} event={event} />}
    </Paper>
  )
}

function Answer({ trigger, event }: { trigger: string; event: string }) {
  const about = useQuery({ queryKey: ['event', event, 'row'], queryFn: () => work.event(event) })
  const { data, error, isPending, refetch } = useQuery({
    queryKey: wkeys.why(event),
    queryFn: () => work.why(event),
  })
  if (isPending) return <LoadingRows rows={1} />
  if (error) return <Failed what={event} error={error} onRetry={() => void refetch()} />
  const own = data.records.filter((record) => record.trigger === trigger)
  const others = data.records.filter((record) => record.trigger !== trigger)
  return (
    <Stack gap="xs" mt="sm" role="status" aria-label={`What came of ${event}`}>
      {about.data && (
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {event}: {about.data.text} · {about.data.source}
        </Text>
      )}
      {own.length > 0 ? (
        <WhyRecords records={own} without="trigger" />
      ) : (
        <Text size="sm">{trigger} does not watch its source.</Text>
      )}
      {others.length > 0 && (
        <>
          <Text size="xs" c="dimmed">
            Other triggers
          </Text>
          <WhyRecords records={others} />
        </>
      )}
    </Stack>
  )
}
