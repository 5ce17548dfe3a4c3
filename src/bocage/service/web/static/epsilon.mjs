// Amounts of epsilon: exact on paper (whole billionths), and a slider beside the field.

/** An amount as a whole number of billionths; undefined for what is none. */
export function nano(text) {
  const match = /^(\d*)(?:\.(\d{0,9}))?$/.exec(String(text).trim());
  if (!match || (!match[1] && !match[2])) return undefined;
  return BigInt(match[1] || "0") * 1000000000n + BigInt((match[2] ?? "").padEnd(9, "0"));
}

/** Billionths as people write them. */
export function amount(value) {
  const [size, sign] = value < 0n ? [-value, "−"] : [value, ""];
  const rest = String(size % 1000000000n).padStart(9, "0").replace(/0+$/, "");
  return `${sign}${size / 1000000000n}${rest ? `.${rest}` : ""}`;
}

/** An amount without the zeros at its end. */
export function short(text) {
  const exact = nano(text);
  return exact === undefined ? text : amount(exact);
}

const TURNS = 100; // of the slider for a factor of ten

/** Let a slider and a field say the same. The slider is logarithmic, from a thousandth of the most. */
export function joinSlider(field, slider) {
  const most = Math.max(Number(field.dataset.most) || 1, 0.001);
  const toField = () => { field.value = String(Number((most * 10 ** (slider.value / TURNS)).toPrecision(2))); };
  const toSlider = () => {
    const value = Number(field.value);
    if (value > 0) slider.value = String(Math.round(TURNS * Math.log10(value / most)));
    slider.setAttribute("aria-valuetext", field.value);
  };
  slider.addEventListener("input", () => {
    toField();
    toSlider();
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  field.addEventListener("input", toSlider);
  toSlider();
}
