/** What models were used for: of all time, each day, and by who asked, with whose credential, of whom. */

import { Paper, SegmentedControl, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import type { ModelSpend, ModelUsageResult } from '../../../schemas/types.ts'
import { originWords } from '../../lib/model-settings.ts'
import { costToday, costWords, tokensOf } from '../../lib/model-usage.ts'
import { count, money } from '../../lib/time.ts'
import { Fact } from '../../parts/fact.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Section } from '../../parts/section.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { WideTable } from '../../parts/wide-table.tsx'
import { settings, skeys } from '../../settings-client.ts'
import { UsageDays } from './usage-days.tsx'

const WINDOWS = ['7', '30', '90', '365']

export default function UsagePage() {
  const [query, setQuery] = useSearchParams()
  const asked = query.get('days') ?? '30'
  const days = WINDOWS.includes(asked) ? asked : '30'
  const { data, error, isPending, refetch } = useQuery({
    queryKey: skeys.usage(Number(days)),
    queryFn: () => settings.usage(Number(days)),
    placeholderData: (before) => before,
    refetchInterval: 15_000,
  })
  return (
    <>
      <PageHead title="Usage of models">
        <SegmentedControl
          size="xs"
          aria-label="Days"
          data={WINDOWS.map((value) => ({ value, label: `${value} days` }))}
          value={days}
          onChange={(value) => setQuery(value === '30' ? {} : { days: value }, { replace: true })}
        />
      </PageHead>
      {isPending && <LoadingRows />}
      {error && <Failed what="usage" error={error} onRetry={() => void refetch()} />}
      {data && (data.total.calls === 0 ? <NoCalls /> : <Used usage={data} />)}
    </>
  )
}

function NoCalls() {
  return (
    <Empty title="No model was called yet">
      <Text c="dimmed" maw={520}>
        When an agent runs, each call of a model is counted here with its tokens and its cost. Model providers
        are set under <Link to="/settings?tab=providers">Settings</Link>.
      </Text>
    </Empty>
  )
}

function Used({ usage }: { usage: ModelUsageResult }) {
  const { total, by_surface, by_key_source, by_provider, days, window_days } = usage
  return (
    <Stack gap="lg" maw={1100}>
      <SimpleGrid cols={{ base: 2, sm: 3, md: 5 }}>
        <Fact title="Cost today (UTC)">{money(costToday(days, Date.now()))}</Fact>
        <Fact title="Cost, of all time">{money(total.cost_usd)}</Fact>
        <Fact title="Calls, of all time">{count(total.calls)}</Fact>
        <Fact title="Tokens in, of all time">{count(total.input_tokens)}</Fact>
        <Fact title="Tokens out, of all time">{count(total.output_tokens)}</Fact>
      </SimpleGrid>
      {total.uncosted_calls > 0 && (
        <Text size="sm">
          {count(total.uncosted_calls)} of {count(total.calls)} calls have no known price: their tokens count,
          and no dollars. Set one under <Link to="/settings?tab=prices">Prices</Link>.
        </Text>
      )}
      <Section title={`The last ${window_days} days`}>
        <UsageDays days={days} window={window_days} />
      </Section>
      <Section title="Of all time">
        <Stack>
          <Split title="By surface" rows={Object.entries(by_surface)} word={surfaceWord} />
          <Split title="By provider" rows={Object.entries(by_provider)} word={(id) => id || 'unknown'} />
          <Split
            title="By origin of the credential"
            rows={Object.entries(by_key_source)}
            word={(source) => originWords({ source, configured: true })}
          />
        </Stack>
      </Section>
    </Stack>
  )
}

const surfaceWord = (surface: string): string => SURFACES[surface] ?? surface

const SURFACES: Record<string, string> = {
  agent: 'agents',
  ask: 'questions of people',
  setup: 'guided setup',
}

function Split({
  title,
  rows,
  word,
}: {
  title: string
  rows: [string, ModelSpend][]
  word: (key: string) => string
}) {
  return (
    <Paper withBorder radius="md">
      <WideTable minWidth={480}>
        {/* Of equal columns, so that they stand below those of the table before. */}
        <Table verticalSpacing={4} layout="fixed" aria-label={title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{title}</Table.Th>
              <Table.Th ta="right">Calls</Table.Th>
              <Table.Th ta="right">Tokens</Table.Th>
              <Table.Th ta="right">Cost</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(([key, spend]) => (
              <Table.Tr key={key}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{word(key)}</Table.Td>
                <Table.Td ta="right">{count(spend.calls)}</Table.Td>
                <Table.Td ta="right">{count(tokensOf(spend))}</Table.Td>
                <Table.Td ta="right">{costWords(spend)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </Paper>
  )
}
