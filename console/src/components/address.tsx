/** Longer ones are IPv6, and may take two lines. */
const MAX_IPV4 = 15

/** An IP address, which a narrow column does not break in the middle. */
export const Address = ({ value }: { value: string | null | undefined }) =>
  value ? (
    <span className={value.length > MAX_IPV4 ? 'mono address long' : 'mono address'}>{value}</span>
  ) : (
    <span className="dim">unknown</span>
  )
