/** What is said of times that are in no form that is known: to the sender, and on the source. */

const FORMS = 'A time is ISO 8601, RFC 5322, or a number since 1970.'

/** To the sender, beside how many they are. @param sample what one of them gave for a time. */
export const untimedNotice = ({ sample }: { sample: string }): string =>
  `times such as ${shown(sample)} were not understood: those items have the time of their arrival. ${FORMS}`

/** On the source. @param untimed how many events since the start, and what the last of them gave. */
export function untimedHealth({ count, sample }: { count: number; sample: string }): string {
  const [these, have] = count === 1 ? ['1 event was', 'it has'] : [`${count} events was`, 'they have']
  return `The time of ${these} not understood, such as ${shown(sample)}: ${have} the time of arrival. ${FORMS}`
}

const shown = (sample: string): string => JSON.stringify(sample.slice(0, 80))
