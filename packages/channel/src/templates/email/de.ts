import type { Locale } from "../locale.ts";

export const de: Locale = {
  tag: "de",
  dir: "ltr",
  greeting: "Guten Tag {{ name }},",
  greetingWithoutName: "Guten Tag,",
  labels: { parcel: "Paket", merchant: "Absender", when: "Zeit" },
  footer: "Sie erhalten diese E-Mail, weil Sie das Paket {{ parcel }} verfolgen.",
  messages: {
    picked_up: {
      subject: "Paket {{ parcel }} ist unterwegs",
      buyer:
        "{{ merchant }} hat Ihr Paket dem Zusteller übergeben. Wir melden uns wieder, sobald es in Zustellung ist.",
      staff: "Der Zusteller hat das Paket abgeholt.",
    },
    customs_hold: {
      subject: "Paket {{ parcel }} liegt beim Zoll",
      buyer:
        "Der Zoll prüft Ihr Paket von {{ merchant }}. Sie müssen im Moment nichts tun. Wir melden uns, sobald es weitergeht.",
      staff: "Das Paket wird vom Zoll festgehalten. Bitte prüfen, ob die Zollpapiere vollständig sind.",
    },
    "customs_hold.still": {
      subject: "Paket {{ parcel }} liegt noch immer beim Zoll",
      buyer:
        "Ihr Paket von {{ merchant }} liegt seit mehr als 24 Stunden beim Zoll. Wir bitten um Geduld und melden uns, sobald es freigegeben ist.",
      staff: "Das Paket liegt nach 24 Stunden noch beim Zoll. Bitte beim Zollagenten nachfragen, was fehlt.",
    },
    customs_released: {
      subject: "Paket {{ parcel }} ist verzollt",
      buyer:
        "Gute Nachricht: Der Zoll hat Ihr Paket von {{ merchant }} freigegeben. Es ist wieder unterwegs.",
      staff: "Der Zoll hat das Paket freigegeben.",
    },
    out_for_delivery: {
      subject: "Paket {{ parcel }} kommt heute an",
      buyer: "Ihr Paket von {{ merchant }} ist im Zustellfahrzeug und sollte heute bei Ihnen ankommen.",
      staff: "Das Paket ist in Zustellung.",
    },
    delivery_exception: {
      subject: "Paket {{ parcel }} konnte nicht zugestellt werden",
      buyer:
        "Ihr Paket von {{ merchant }} konnte nicht zugestellt werden. Meist folgt am nächsten Werktag ein neuer Versuch.",
      staff: "Die Zustellung ist gescheitert. Bitte Adresse und Telefonnummer mit dem Empfänger klären.",
    },
    delivered: {
      subject: "Paket {{ parcel }} wurde zugestellt",
      buyer: "Ihr Paket von {{ merchant }} wurde zugestellt. Viel Freude damit!",
      staff: "Das Paket wurde zugestellt.",
    },
    returned: {
      subject: "Paket {{ parcel }} geht an den Absender zurück",
      buyer:
        "Ihr Paket konnte nicht zugestellt werden und geht an {{ merchant }} zurück. Bitte klären Sie dort eine neue Zustellung oder die Erstattung.",
      staff: "Das Paket wird zurückgeschickt. Es trifft an der Rücksendeadresse ein.",
    },
  },
};
