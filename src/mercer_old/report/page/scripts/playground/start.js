// The page begins.

work(async () => {
  const app = new App(readBlock("presets"));
  wireControls(app);
  wirePointer(app);
  wireKeyboard(app);
  const anew = () => { app.looks = (app.looks ?? 0) + 1; }; // other sizes or colours: all is drawn
  const dress = () => { app.theme = themeNow(); drawSwatches(app.theme); anew(); };
  const restyle = () => { dress(); app.frame(); }; // at once, as a printer does not wait for the next frame
  const resize = () => { anew(); app.redraw(); };
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", restyle);
  for (const place of ["plane", "pca-scores", "scree", "tiles"]) new ResizeObserver(resize).observe(byId(place));
  window.addEventListener("hashchange", () => {
    const doc = location.hash === linkOf(app.doc) ? null : documentFrom(location.hash, app.presets);
    if (doc) { app.keep(); app.open(doc); }
  });
  dress();
  app.settle();
  // For teachers at the console, and for tests: the page's own numbers, and its methods for any points.
  window.playground = Object.freeze({
    numbers: () => ({ points: app.doc.points, classes: app.doc.classes, params: app.doc.params, ...app.fits }),
    pca,
    kernelPca: (points, params, options) => new KernelPca().fit(points, params, options),
    lle: (points, params, options) => new Lle().fit(points, params, options),
    fields: (points, params, view, count) => fieldsOver(points, params, gridOver(view, count)),
    view: () => ({ ...app.doc.view }),
    frames: () => app.frames,
  });
});
