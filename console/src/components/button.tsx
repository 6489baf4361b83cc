import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components'

export interface ButtonProps extends Omit<AriaButtonProps, 'className'> {
  /** `primary` once per view, `danger` for what cannot be undone, `quiet` inside rows. */
  readonly look?: 'primary' | 'danger' | 'quiet'
}

export const Button = ({ look, ...props }: ButtonProps) => (
  <AriaButton {...props} className={look ? `button ${look}` : 'button'} />
)
