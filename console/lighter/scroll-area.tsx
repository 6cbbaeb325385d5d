/**
 * A scroll container with the browser's own scroll bar, mostly inside dropdown lists. The component kit draws bars itself,
 * which costs 4 kB on every page with a dropdown.
 */
import { Box, type BoxProps, type ElementProps } from '@mantine/core'
import type { Ref } from 'react'

interface Props extends BoxProps, ElementProps<'div'> {
  viewportRef?: Ref<HTMLDivElement>
  viewportProps?: ElementProps<'div'>
  /** How the kit would draw its bars. */
  type?: string
  scrollbarSize?: number | string
  offsetScrollbars?: boolean | string
  scrollbars?: boolean | string
}

export function ScrollArea({
  viewportRef,
  viewportProps,
  type,
  scrollbarSize,
  offsetScrollbars,
  scrollbars,
  className = '',
  ...rest
}: Props) {
  // Its choices are gone through by arrow keys: browsers make a stop of what scrolls, and Tab from the field would lead
  // into the list as it closes.
  return (
    <Box
      tabIndex={-1}
      {...rest}
      {...viewportProps}
      ref={viewportRef}
      className={`scroll-area ${className}`.trim()}
    />
  )
}

/** As high as what is in it, up to what it is given: a box is so by itself. */
ScrollArea.Autosize = ScrollArea
