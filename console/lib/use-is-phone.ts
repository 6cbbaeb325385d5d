/** Whether the window is that of a phone, where tables are cards (styles/rows.css has the same width). */
import { useMediaQuery } from '@mantine/hooks'

export const useIsPhone = (): boolean =>
  useMediaQuery('(max-width: 700px)', undefined, { getInitialValueInEffect: false }) ?? false
