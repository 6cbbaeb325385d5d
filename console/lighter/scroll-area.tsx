/**
 * What scrolls inside of a list that is opened: with the bar of the browser. The component kit's draws bars of its own,
 * 4 kB of every page with a choice.
 */
import { Box, type BoxProps, type ElementProps } from '@mantine/core'
import type { Ref } from 'react'

interface Props extends BoxProps, ElementProps<'div'> {
  viewportRef?: Ref<HTMLDivElement>
  /** How the kit would draw its bars. */
  type?: string
  scrollbarSize?: number | string
  offsetScrollbars?: boolean | string
  scrollbars?: boolean | string
}

export function ScrollArea({
  viewportRef,
  type,
  scrollbarSize,
  offsetScrollbars,
  scrollbars,
  ...rest
}: Props) {
  return <Box {...rest} ref={viewportRef} className="scroll-area" />
}

/** As high as what is in it, up to what it is given: a box is so by itself. */
ScrollArea.Autosize = ScrollArea
