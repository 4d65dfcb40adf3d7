// Rows of buttons become sliders: one of their steps is shown, whichever way it is chosen.
work(() => {
  for (const row of document.querySelectorAll(".slider")) {
    const buttons = [...row.querySelectorAll(":scope > input[type=radio]")];
    const at = () => buttons.findIndex((button) => button.checked);
    const range = make("input", { type: "range", min: 0, max: buttons.length - 1, step: 1 });
    const follow = () => {
      range.value = at();
      range.setAttribute("aria-valuetext", buttons[at()].getAttribute("aria-label"));
    };
    range.setAttribute("aria-label", row.getAttribute("aria-label"));
    range.addEventListener("input", () => {
      buttons[Number(range.value)].checked = true;
      follow();
    });
    for (const button of buttons) {
      button.addEventListener("change", follow);
      button.tabIndex = -1;
      button.setAttribute("aria-hidden", "true");
    }
    row.classList.add("slides");
    buttons.at(-1).after(range); // behind all buttons, which styles count
    follow();
  }
});
