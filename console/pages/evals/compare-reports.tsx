/** What became of each agent since another report, in words: better, worse, or not shown. */
import { Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { compareReports } from '../../../schemas/eval-figures.ts'
import type { EvalReport } from '../../../schemas/types.ts'
import { ekeys, evals } from '../../eval-client.ts'
import { Failed } from '../../parts/states.tsx'

export function CompareReports({ report, id }: { report: EvalReport; id?: string }) {
  const [other, setOther] = useState<string | null>(null)
  const list = useQuery({ queryKey: ekeys.list, queryFn: evals.list })
  const before = useQuery({
    queryKey: ekeys.one(other ?? ''),
    queryFn: () => evals.one(other!),
    enabled: other !== null,
  })
  const others = (list.data?.reports ?? []).filter((one) => one.id !== id && one.runs > 0)
  if (others.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No other report was published.
      </Text>
    )
  return (
    <Stack gap="xs">
      <Select
        size="xs"
        w={320}
        maw="100%"
        label="Earlier report"
        placeholder="Choose a report"
        data={others.map((one) => ({
          value: one.id,
          label: `${one.at.slice(0, 16).replace('T', ' ')} UTC, svc ${one.release}`,
        }))}
        value={other}
        onChange={setOther}
        clearable
        clearButtonProps={{ 'aria-label': 'Clear the earlier report' }}
      />
      {before.error && (
        <Failed what="the earlier report" error={before.error} onRetry={() => void before.refetch()} />
      )}
      {before.data && <Compared before={before.data} after={report} />}
    </Stack>
  )
}

const WORDS = {
  better: 'better',
  worse: 'worse',
  'not shown': 'no difference shown',
} as const

function Compared({ before, after }: { before: EvalReport; after: EvalReport }) {
  const compared = compareReports(before, after)
  if (compared.length === 0) return <Text size="sm">The reports have no agent in common.</Text>
  return (
    <ul style={{ margin: 0 }} aria-label="Comparison">
      {compared.map(({ variant, verdict, scenarios, difference: { mean, low, high } }) => (
        <li key={variant}>
          {variant}: <b>{WORDS[verdict]}</b> over {scenarios} scenarios, {signed(mean)} ({signed(low)} to{' '}
          {signed(high)})
        </li>
      ))}
    </ul>
  )
}

const signed = (value: number): string => `${value >= 0 ? '+' : '−'}${Math.abs(value).toFixed(2)}`
