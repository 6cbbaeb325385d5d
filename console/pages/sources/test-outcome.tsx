/** What a test of a source came to. */
import { Alert, List, Text } from '@mantine/core'
import type { SourceTestResult } from '../../../schemas/types.ts'
import { countEvents } from '../../lib/time.ts'
import { Refusal } from '../../parts/refusal.tsx'

interface Props {
  result: SourceTestResult | undefined
  error: Error | null
}

export function TestOutcome({ result, error }: Props) {
  if (error) return <Refusal title="The test found a fault" error={error} />
  if (!result) return null
  const { ok, events = 0, sample = [], note } = result
  if (!ok)
    return (
      <Alert color="red" title="The test failed" role="alert">
        {result.error ?? 'No reason was given.'}
      </Alert>
    )
  return (
    <Alert color="teal" title="Test passed" role="status">
      {(events > 0 || note === undefined) && <Text size="sm">{countEvents(events)} would be stored.</Text>}
      {note !== undefined && <Text size="sm">{note}</Text>}
      {sample.length > 0 && (
        <List size="sm" spacing={2} mt={4}>
          {sample.map((text, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: texts may repeat, and none moves
            <List.Item key={i} className="mono" style={{ overflowWrap: 'anywhere' }}>
              {text}
            </List.Item>
          ))}
        </List>
      )}
    </Alert>
  )
}
