/** A bar a day; the same in words for who does not see them. */
import { Stack, Table, Text } from '@mantine/core'
import type { ModelSpendDay } from '../../../schemas/types.ts'
import { barHeights, barWords, costWords, tokensOf, usageBars } from '../../lib/model-usage.ts'
import { count } from '../../lib/time.ts'
import { Fold } from '../../parts/fold.tsx'
import { useNow } from '../../parts/use-now.ts'

const WIDTH = 1000
const HEIGHT = 120

export function UsageDays({ days, window }: { days: readonly ModelSpendDay[]; window: number }) {
  const now = useNow(60_000)
  const bars = usageBars(days, window, now)
  const { by, heights } = barHeights(bars)
  const step = WIDTH / bars.length
  const called = bars.filter(({ calls }) => calls > 0).length
  return (
    <Stack gap={4}>
      <svg
        role="img"
        aria-label={`${by === 'cost' ? 'Dollars' : 'Tokens'} a day: ${called} of ${window} days had calls`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        width="100%"
        height={HEIGHT}
        style={{ display: 'block' }}
      >
        {bars.map((bar, i) => {
          const tall = bar.calls === 0 ? 1.5 : Math.max(3, heights[i]! * HEIGHT)
          return (
            <rect
              key={bar.day}
              className={bar.calls === 0 ? 'spark-none' : 'spark-bar'}
              x={i * step + step * 0.1}
              y={HEIGHT - tall}
              width={step * 0.8}
              height={tall}
            >
              <title>{barWords(bar)}</title>
            </rect>
          )
        })}
      </svg>
      <Text size="xs" c="dimmed">
        {bars[0]?.day} to {bars.at(-1)?.day} (UTC),{' '}
        {by === 'cost' ? 'by dollars' : 'by tokens: no call has a price'}
      </Text>
      {days.length > 0 && (
        <Fold title="Each day" hint={`${days.length} with calls`}>
          <Table verticalSpacing={4} aria-label="Each day">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Day</Table.Th>
                <Table.Th ta="right">Calls</Table.Th>
                <Table.Th ta="right">Tokens</Table.Th>
                <Table.Th ta="right">Cost</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {[...days].reverse().map((day) => (
                <Table.Tr key={day.day}>
                  <Table.Td>{day.day.slice(0, 10)}</Table.Td>
                  <Table.Td ta="right">{count(day.calls)}</Table.Td>
                  <Table.Td ta="right">{count(tokensOf(day))}</Table.Td>
                  <Table.Td ta="right">{costWords(day)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Fold>
      )}
    </Stack>
  )
}
