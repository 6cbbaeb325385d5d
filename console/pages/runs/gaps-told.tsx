/** When sources took nothing in, as a model was told: what it saw nothing of may be missing. */
import { Text } from '@mantine/core'
import { gapsIn } from '../../../schemas/event-line.ts'
import { moment } from '../../lib/time.ts'

export const GapsTold = ({ text }: { text: string }) =>
  gapsIn(text).map((said) => (
    <Text key={said} size="sm" style={{ overflowWrap: 'anywhere' }}>
      <span className="hatched" aria-hidden /> {withLocalTimes(said)}
    </Text>
  ))

/** With its times as they are here. */
const withLocalTimes = (said: string): string =>
  said.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (iso) =>
    moment(Date.parse(iso), Date.now(), true),
  )
